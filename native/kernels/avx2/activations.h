// Activations of the products of quantized weights: 8 bits each, with a scale for each 32 values.
// The same bits as the AVX-512 set's.

#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <limits>

#include "../format.h"

namespace oi::kernels::avx2 {
namespace {  // sources for other instructions have their own

// A block of a group of n columns: quants [8 steps][n][4], then floats or integers [n]: scales,
// where the sums start, and the same for the second half, or scale * sum, for minima; with minima
// of both halves, where nothing is taken off, scale * sum of each.
constexpr int64_t kRecordBytes = 44;  // of one column

// Where the scaled sums for a minimum are, behind the first starts.
template <class W>
constexpr int SumsAt(int min) {
  return W::kMins == 2 ? min : 1;
}

inline size_t ActivationBytes(int64_t k, int64_t columns) {
  return static_cast<size_t>(columns * (k / kBlock) * kRecordBytes);
}

// Of 8 numbers: `combine` must not mind their order.
template <class Combine>
int32_t Reduce(__m256i x, Combine combine) {
  __m128i y = combine(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  y = combine(y, _mm_shuffle_epi32(y, 0x4E));
  y = combine(y, _mm_shuffle_epi32(y, 0xB1));
  return _mm_cvtsi128_si32(y);
}

// The numbers that take the place of a block's values are scale * round(value * inverse).
struct BlockScale {
  float scale;
  float inverse;
  bool finite;
};

BlockScale ScaleOf(const __m256* values) {
  // As integers the bits of positive floats are in order, with infinity and NaN on top.
  const __m256i magnitude = _mm256_set1_epi32(0x7FFFFFFF);
  __m256i largest = _mm256_setzero_si256();
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    largest =
        _mm256_max_epi32(largest, _mm256_and_si256(_mm256_castps_si256(values[i]), magnitude));
  }
  const auto max = std::bit_cast<float>(
      Reduce(largest, [](__m128i a, __m128i b) { return _mm_max_epi32(a, b); }));
  const bool finite = max <= std::numeric_limits<float>::max();
  // Below this the reciprocal overflows, and the values are nothing beside any other.
  return {finite ? max / 127.0f : std::numeric_limits<float>::quiet_NaN(),
          max > 1e-36f && finite ? 127.0f / max : 0.0f, finite};
}

// Quantizes 32 values to column `c` of a record of `width` columns.
template <class W, class Dots>
void QuantizeBlock(const float* x, uint8_t* record, int64_t width, int64_t c) {
  __m256 values[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) values[i] = _mm256_loadu_ps(x + i * 8);
  const auto [scale, inverse, finite] = ScaleOf(values);

  const __m256i used = _mm256_set1_epi32(finite ? -1 : 0);
  const __m256 factor = _mm256_set1_ps(inverse);
  __m256i quants[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m256i rounded = _mm256_cvtps_epi32(_mm256_mul_ps(values[i], factor));
    quants[i] = _mm256_and_si256(rounded, used);
  }
  // Packing interleaves the registers' halves; the permutation puts the steps in order.
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(quants[0], quants[1]),
                                           _mm256_packs_epi32(quants[2], quants[3]));
  alignas(32) int32_t steps[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(steps),
                     _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
  auto* at = reinterpret_cast<int32_t*>(record) + c;
  for (int s = 0; s < 8; ++s) at[s * width] = steps[s];

  const auto add = [](__m128i a, __m128i b) { return _mm_add_epi32(a, b); };
  const int32_t first = Reduce(_mm256_add_epi32(quants[0], quants[1]), add);
  const int32_t second = Reduce(_mm256_add_epi32(quants[2], quants[3]), add);
  at[8 * width] = std::bit_cast<int32_t>(scale);
  const auto scaled = [scale](int32_t sum) {
    return std::bit_cast<int32_t>(scale * static_cast<float>(sum));
  };
  if constexpr (W::kMins == 2) {
    static_assert(W::kHalves == 1 && W::kOffset == 0);
    at[9 * width] = scaled(first);
    at[10 * width] = scaled(second);
  } else if constexpr (W::kHalves == 2) {
    at[9 * width] = -Dots::kOffset * first;
    at[10 * width] = -Dots::kOffset * second;
  } else {
    at[9 * width] = -Dots::kOffset * (first + second);
    at[10 * width] = scaled(first + second);
  }
}

template <class W, class Dots>
void Convert(const float* const* columns, int64_t width, int64_t, int64_t begin, int64_t end,
             uint8_t* group_start) {
  for (int64_t block = begin / kBlock; block < end / kBlock; ++block) {
    uint8_t* record = group_start + block * width * kRecordBytes;
    for (int64_t c = 0; c < width; ++c) {
      QuantizeBlock<W, Dots>(columns[c] + block * kBlock, record, width, c);
    }
  }
}

void Residual(const float* values, int64_t count, float* result) {
  for (int64_t at = 0; at < count; at += kBlock) {
    __m256 block[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) block[i] = _mm256_loadu_ps(values + at + i * 8);
    const BlockScale found = ScaleOf(block);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256 quants = _mm256_round_ps(_mm256_mul_ps(block[i], _mm256_set1_ps(found.inverse)),
                                            _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      const __m256 left = _mm256_fnmadd_ps(quants, _mm256_set1_ps(found.scale), block[i]);
      _mm256_storeu_ps(result + at + i * 8, left);
    }
  }
}

}  // namespace
}  // namespace oi::kernels::avx2
