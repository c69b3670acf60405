// The clock by which everything is timed.

#pragma once

#include <chrono>

namespace oi {

using Clock = std::chrono::steady_clock;

inline double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace oi
