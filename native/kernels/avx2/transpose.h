// A square of 8 x 8 floats, transposed in registers.

#pragma once

#include <immintrin.h>

#include <cstdint>

namespace oi::kernels::avx2 {

// 8 rows of 8 floats become columns: value i of row j goes to `to` + i * `to_stride` + j.
inline void Transpose8(const float* const* rows, float* to, int64_t to_stride) {
  __m256 r[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(rows[i]);
  __m256 t[8];
  // Pairs of values, then pairs of pairs, then halves of registers, change places.
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xEE);
    r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
  }
  // Now half h of r[4 g + j] holds column 4 h + j of rows 4 g to 4 g + 3.
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    _mm256_storeu_ps(to + j * to_stride, _mm256_permute2f128_ps(r[j], r[4 + j], 0x20));
    _mm256_storeu_ps(to + (4 + j) * to_stride, _mm256_permute2f128_ps(r[j], r[4 + j], 0x31));
  }
}

}  // namespace oi::kernels::avx2
