// The cores of the machine, shared by the threads that compute graphs: the engines of several
// models, in this process and in those that were given the same table. Each takes its part for one
// graph at a time.
//
// The table has no lock: a process may end while it holds one. Who begins writes that down first
// and then looks at the others, so of two that begin together one at least sees the other.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace oi {

class CoreShares {
 public:
  using Clock = std::chrono::steady_clock;

  // Of one engine. All zero: nobody's.
  struct alignas(64) Place {
    std::atomic<uint32_t> owner;   // its process
    std::atomic<uint32_t> most;    // threads that it could use; 0 until it first computed
    std::atomic<int64_t> busy_ns;  // until when it counts as busy, by the clock
  };
  // All zero: empty. Of one machine, so the clock is the same for all.
  struct Table {
    std::atomic<uint32_t> used;  // places behind these were never anybody's
    std::array<Place, 64> places;
  };
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
  static_assert(std::atomic<int64_t>::is_always_lock_free);

  // `table`: that of other processes too; must outlive the shares. Null: one of its own.
  explicit CoreShares(uint32_t cores, Table* table = nullptr)
      : cores_(cores), table_(table != nullptr ? *table : own_) {}

  // One of those that compute graphs. Must not outlive the shares. Without a free place, which
  // takes 64 engines, the others do not see it.
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
    CoreShares& shares_;
    Place* place_ = nullptr;
  };

  // Of this process, with the table in the file that OI_CORE_SHARES_FD names a descriptor of, if
  // it does: of the size of a table, open for reading and writing.
  static CoreShares& Process();

 private:
  const uint32_t cores_;
  Table own_{};
  Table& table_;
};

}  // namespace oi
