// The clock by which everything is timed.

#pragma once

#include <chrono>

namespace oi {

using Clock = std::chrono::steady_clock;

inline double MillisecondsBetween(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

inline double MillisecondsSince(Clock::time_point start) {
  return MillisecondsBetween(start, Clock::now());
}

}  // namespace oi
