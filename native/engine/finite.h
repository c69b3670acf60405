// Numbers that are neither NaN nor infinite.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace oi {

// The exponent of what is not finite is all ones. No comparison that a compiler may leave out,
// and no branch, so that it is vectorized.
inline bool IsFinite(float x) {
  constexpr uint32_t kExponent = 0x7F800000;
  return (std::bit_cast<uint32_t>(x) & kExponent) != kExponent;
}

inline size_t CountFinite(const float* x, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) count += IsFinite(x[i]);
  return count;
}

}  // namespace oi
