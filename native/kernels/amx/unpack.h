// Quantized weights as BF16, in the order in which tile registers multiply them.
//
// A step of 32 values of the 16 rows of a tile becomes 16 x 64 bytes: pairs of values, each of all
// rows in turn. Rounding a weight to BF16 changes it by 2^-9 of itself at most. Together with
// activations in BF16 that is a third of what their rounding to 8 bits costs elsewhere.

#pragma once

#include "../avx512/weights.h"

namespace oi::kernels::amx {

// Where a byte of each row's four lies, at all four of them.
inline __m512i Indices(int byte) {
  const __m512i starts = _mm512_set4_epi32(0x0C0C0C0C, 0x08080808, 0x04040404, 0);
  return _mm512_add_epi8(starts, _mm512_set1_epi8(static_cast<char>(byte)));
}

// Two floats of each row as BF16, the second one in the upper half. Halves away from zero.
inline __m512i Pair(__m512 first, __m512 second) {
  const __m512i half = _mm512_set1_epi32(0x8000);
  const __m512i low = _mm512_add_epi32(_mm512_castps_si512(first), half);
  const __m512i high = _mm512_add_epi32(_mm512_castps_si512(second), half);
  // Bytes 2 and 3 of the one become bytes 0 and 1 of the other.
  const __m512i upper = _mm512_add_epi8(Indices(2), _mm512_set1_epi16(0x0100));
  return _mm512_mask_shuffle_epi8(high, 0x3333333333333333, low, upper);
}

// Blocks begin to end of a quantized tile; `U` is one of avx512/weights.h.
//
// Put among the bits of a float, a quant makes it 32768 + quant, or 128 + quant where it has no
// more than seven bits. What that is too large goes away with the offset, and nothing is lost:
// times the scale, which has 18 bits at most, or 11 where quants have eight, the two have 21. Where
// quants of eight bits have scales of 17 (IQ formats), 2^-10 of a quant is lost at most.
template <class U>
void Unpack(const uint8_t* tile, int64_t k, int64_t begin, int64_t end, uint8_t* to) {
  constexpr bool kEightBits = U::kOffset == 128;
  constexpr float kBase = kEightBits ? 32768.0f : 128.0f;
  constexpr __mmask64 kPlace = kEightBits ? 0x2222222222222222 : 0x4444444444444444;
  const __m512i base = _mm512_castps_si512(_mm512_set1_ps(kBase));
  U weights(tile, k);
  for (int64_t block = begin; block < end; ++block) {
    alignas(64) float scales[(U::kHalves + U::kMins) * kTileRows];
    weights.Scales(block, scales);
    weights.At(block);
    constexpr int kParts = U::kHalves > U::kMins ? U::kHalves : U::kMins;
#pragma GCC unroll 2
    for (int part = 0; part < kParts; ++part) {
      const __m512 scale = _mm512_load_ps(scales + part % U::kHalves * kTileRows);
      __m512 start = _mm512_mul_ps(scale, _mm512_set1_ps(-kBase - U::kOffset));
      if constexpr (U::kMins > 0) {
        const int min = U::kHalves + part % U::kMins;
        start = _mm512_sub_ps(start, _mm512_load_ps(scales + min * kTileRows));
      }
      constexpr int kSteps = 8 / kParts;
#pragma GCC unroll 8
      for (int i = 0; i < kSteps; ++i, to += 128) {
        const __m512i four = weights.Step(part * kSteps + i);
        const auto value = [&](int byte) {
          const __m512i placed = _mm512_mask_shuffle_epi8(base, kPlace, four, Indices(byte));
          return _mm512_fmadd_ps(_mm512_castsi512_ps(placed), scale, start);
        };
        _mm512_store_si512(to, Pair(value(0), value(1)));
        _mm512_store_si512(to + 64, Pair(value(2), value(3)));
      }
    }
  }
}

}  // namespace oi::kernels::amx
