// Chooses how many threads compute a graph: as many as there may be, or fewer where that is faster
// because other processes use the cores too.
//
// 1. While threads hardly sleep at the barrier, all of them compute and nothing is tried.
// 2. Else other numbers are tried, one window at a time, and kept where more was done in its time.
//    Windows of what is tried take a small part of the time, and less when it keeps losing.
// 3. Fewer are tried only where threads sleep; more always, or the number would never rise again.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace oi {

// A graph that was computed.
struct GraphRun {
  uint32_t threads;
  double cost;      // in any unit, the same for all; of no account unless measures()
  double ms;        // of wall time
  double slept_ms;  // at the barrier, mean of the threads that can wait
};

class ThreadChoice {
 public:
  explicit ThreadChoice(uint32_t most);

  // For the next graph.
  uint32_t threads() const { return levels_[trying_.value_or(at_)]; }
  // Whether the next run's cost is needed.
  bool measures() const { return at_ > 0 || trying_ || contended(); }
  // Whether threads lose their cores to others.
  bool contended() const;

  void Done(const GraphRun& run);

 private:
  struct Window {
    double cost = 0;
    double ms = 0;
  };

  void Forget();
  void EndWindow();
  void EndTrial(double window_ms);
  std::optional<size_t> NextTrial();

  std::vector<uint32_t> levels_;   // of threads, descending to 1
  std::vector<double> rates_;      // of each level: cost per ms; 0 if unknown
  std::vector<double> lasted_ms_;  // the last window of each level; 0 if unknown
  size_t at_ = 0;
  std::optional<size_t> trying_;
  size_t trials_ = 0;
  Window window_;
  double slept_share_ = 0;  // of recent time
  double rested_ms_;        // since the last trial
  double rest_ms_;          // until the next one
  double patience_;         // the rest after the next one, in windows
};

}  // namespace oi
