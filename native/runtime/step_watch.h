// Tells a step that hangs: it has taken far longer than was predicted.

#pragma once

#include <algorithm>
#include <atomic>

#include "../engine/clock.h"

namespace oi {

// Begun and ended on the inference thread, asked on any.
class StepWatch {
 public:
  // `expected_ms`: predicted by the rate measured so far.
  void Begin(double expected_ms) {
    expected_ms_ = expected_ms;
    begun_ = Clock::now().time_since_epoch().count();
  }
  void End() { begun_ = kNone; }

  // `least_ms`: how long a step may take whatever was predicted: a driver may compile kernels in
  // it, or the machine may be short of memory.
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
