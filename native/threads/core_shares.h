// The cores of this process, shared by the threads that compute graphs: the engines of several
// models. Each takes its part for one graph at a time.

#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

namespace oi {

class CoreShares {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CoreShares(uint32_t cores) : cores_(cores) {}

  // One of those that compute graphs. Must not outlive the shares.
  class Claim {
   public:
    explicit Claim(CoreShares& shares);
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

    // Threads for a graph that could use `most`, at least 1: all of them while nobody else
    // computes or did a moment ago, else what the equal parts of the others leave.
    uint32_t Take(uint32_t most, Clock::time_point now = Clock::now());
    // The graph is computed.
    void Return(Clock::time_point now = Clock::now());

   private:
    friend class CoreShares;
    bool Busy(Clock::time_point now) const;

    CoreShares& shares_;
    // Guarded by shares_.mutex_.
    uint32_t most_ = 0;  // 0 until it first computed
    bool computes_ = false;
    Clock::time_point end_{};  // of its last graph
  };

  // Of this process.
  static CoreShares& Process();

 private:
  const uint32_t cores_;
  std::mutex mutex_;
  std::vector<Claim*> claims_;  // guarded by mutex_
};

}  // namespace oi
