// Sums of products, in single precision.

#pragma once

#include <cstddef>

namespace oi {

// In lanes, which is vectorized without a licence to reorder.
inline float Dot(const float* a, const float* b, size_t count) {
  constexpr size_t kLanes = 16;
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace oi
