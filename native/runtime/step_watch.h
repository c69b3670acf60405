// Whether the step that runs has taken far longer than its like: what computes it hangs.

#pragma once

#include <algorithm>
#include <atomic>

#include "../engine/clock.h"

namespace oi {

// Begun and ended on the inference thread, asked on any.
class StepWatch {
 public:
  // `expected_ms`: by the rate that was measured.
  void Begin(double expected_ms) {
    expected_ms_ = expected_ms;
    begun_ = Clock::now().time_since_epoch().count();
  }
  void End() { begun_ = kNone; }

  // `least_ms`: what a step may take in any case, as a driver may compile for one, or the machine
  // be short of memory.
  bool Hangs(double least_ms) const {
    const Clock::rep begun = begun_;
    if (begun == kNone) return false;
    const Clock::time_point start{Clock::duration{begun}};
    return MillisecondsSince(start) > std::max(least_ms, kPatience * expected_ms_);
  }

 private:
  static constexpr double kPatience = 20;
  static constexpr Clock::rep kNone = 0;

  std::atomic<double> expected_ms_{0};
  std::atomic<Clock::rep> begun_{kNone};
};

}  // namespace oi
