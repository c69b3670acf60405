// Quantized weights as BF16, in the order in which tile registers multiply them.
//
// A step of 32 values of the 16 rows of a tile becomes 16 x 64 bytes: pairs of values, each of all
// rows in turn. Rounding a weight to BF16 changes it by 2^-9 of itself at most. Together with
// activations in BF16 that is a third of what their rounding to 8 bits costs elsewhere.

#pragma once

#include "../avx512/weights.h"

namespace oi::kernels::amx {

// Two floats of each row as BF16, the second one in the upper half. Halves away from zero.
inline __m512i Pair(__m512 first, __m512 second) {
  const __m512i half = _mm512_set1_epi32(0x8000);
  const __m512i low = _mm512_srli_epi32(_mm512_add_epi32(_mm512_castps_si512(first), half), 16);
  const __m512i high = _mm512_add_epi32(_mm512_castps_si512(second), half);
  // (high & 0xFFFF0000) | low
  return _mm512_ternarylogic_epi32(high, _mm512_set1_epi32(-0x10000), low, 0xEA);
}

// Blocks begin to end of a quantized tile; `U` is one of avx512/weights.h.
template <class U>
void Unpack(const uint8_t* tile, int64_t k, int64_t begin, int64_t end, uint8_t* to) {
  U weights(tile, k);
  const __m512i byte = _mm512_set1_epi32(0xFF);
  for (int64_t block = begin; block < end; ++block) {
    alignas(64) float scales[(U::kHalves + U::kMins) * kTileRows];
    weights.Scales(block, scales);
    weights.At(block);
#pragma GCC unroll 2
    for (int half = 0; half < U::kHalves; ++half) {
      const __m512 scale = _mm512_load_ps(scales + half * kTileRows);
      const __m512 start =
          U::kMins ? _mm512_sub_ps(_mm512_setzero_ps(), _mm512_load_ps(scales + kTileRows))
                   : _mm512_mul_ps(scale, _mm512_set1_ps(-U::kOffset));
      const auto value = [&](__m512i quants) {
        return _mm512_fmadd_ps(_mm512_cvtepi32_ps(quants), scale, start);
      };
      constexpr int kSteps = 8 / U::kHalves;
#pragma GCC unroll 8
      for (int i = 0; i < kSteps; ++i, to += 128) {
        const __m512i four = weights.Step(half * kSteps + i);
        const __m512 a = value(_mm512_and_si512(four, byte));
        const __m512 b = value(_mm512_and_si512(_mm512_srli_epi32(four, 8), byte));
        const __m512 c = value(_mm512_and_si512(_mm512_srli_epi32(four, 16), byte));
        const __m512 d = value(_mm512_srli_epi32(four, 24));
        _mm512_store_si512(to, Pair(a, b));
        _mm512_store_si512(to + 64, Pair(c, d));
      }
    }
  }
}

}  // namespace oi::kernels::amx
