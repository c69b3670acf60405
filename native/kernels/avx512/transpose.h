// A square of 16 x 16 floats, transposed in registers.

#pragma once

#include <immintrin.h>

#include <cstdint>

namespace oi::kernels::avx512 {

// 16 rows of 16 floats become columns: value i of row j goes to `to` + i * `to_stride` + j.
inline void Transpose16(const float* const* rows, float* to, int64_t to_stride) {
  __m512 r[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = _mm512_loadu_ps(rows[i]);
  __m512 t[16];
  // Pairs of values, then pairs of pairs, then quarters of registers, change places.
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    const auto pairs = [&t](int j) { return _mm512_castps_pd(t[j]); };
    r[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(pairs(i), pairs(i + 2)));
    r[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(pairs(i), pairs(i + 2)));
    r[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(pairs(i + 1), pairs(i + 3)));
    r[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(pairs(i + 1), pairs(i + 3)));
  }
  // Now quarter q of r[4 g + j] holds column 4 q + j of rows 4 g to 4 g + 3.
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512 a = _mm512_shuffle_f32x4(r[j], r[4 + j], 0x44);
    const __m512 b = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0x44);
    const __m512 c = _mm512_shuffle_f32x4(r[j], r[4 + j], 0xEE);
    const __m512 d = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0xEE);
    _mm512_storeu_ps(to + j * to_stride, _mm512_shuffle_f32x4(a, b, 0x88));
    _mm512_storeu_ps(to + (4 + j) * to_stride, _mm512_shuffle_f32x4(a, b, 0xDD));
    _mm512_storeu_ps(to + (8 + j) * to_stride, _mm512_shuffle_f32x4(c, d, 0x88));
    _mm512_storeu_ps(to + (12 + j) * to_stride, _mm512_shuffle_f32x4(c, d, 0xDD));
  }
}

}  // namespace oi::kernels::avx512
