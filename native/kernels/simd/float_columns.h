// Columns of activations that stay floats: a group of n lies as [k][n] floats.

#pragma once

#include <cstddef>
#include <cstdint>

namespace oi::kernels::simd {
namespace {  // each set of instructions has its own

inline size_t FloatColumnBytes(int64_t k, int64_t columns) {
  return static_cast<size_t>(columns * k) * sizeof(float);
}

// ProductKernel::convert
inline void ConvertFloatColumns(const float* const* columns, int64_t width, int64_t, int64_t begin,
                                int64_t end, uint8_t* group_start) {
  auto* to = reinterpret_cast<float*>(group_start);
  for (int64_t c = 0; c < width; ++c) {
    for (int64_t i = begin; i < end; ++i) to[i * width + c] = columns[c][i];
  }
}

}  // namespace
}  // namespace oi::kernels::simd
