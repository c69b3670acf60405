// Activations of the products of quantized weights: 8 bits each, with a scale for each 32 values.
// The same bits as the AVX2 set's.

#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "../format.h"

namespace oi::kernels::avx512 {
namespace {  // sources for other instructions have their own

// A block of a group of n columns: quants [8 steps][n][4], then floats or integers [n]: scales,
// where the sums start, and the same for the second half, or scale * sum, for minima; with minima
// of both halves, where nothing is taken off, scale * sum of each.
constexpr int64_t kRecordBytes = 44;  // of one column

struct Record {
  uint8_t* start;
  int64_t width;
  int32_t* step(int64_t s) const { return reinterpret_cast<int32_t*>(start) + s * width; }
  float* scale() const { return reinterpret_cast<float*>(start + 32 * width); }
  int32_t* first() const { return reinterpret_cast<int32_t*>(start + 36 * width); }
  int32_t* second() const { return reinterpret_cast<int32_t*>(start + 40 * width); }
};

// Where the scaled sums for a minimum are, behind the first starts.
template <class W>
constexpr int SumsAt(int min) {
  return W::kMins == 2 ? min : 1;
}

size_t ActivationBytes(int64_t k, int64_t columns) {
  return static_cast<size_t>(columns * (k / kBlock) * kRecordBytes);
}

constexpr int kBlocks = static_cast<int>(kSuperBlock / kBlock);

// Of each of 8 registers the largest of its 16 numbers.
__m256i LargestOfEach(const __m512i* x) {
  __m512i pairs[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    pairs[i] = _mm512_max_epi32(_mm512_unpacklo_epi32(x[2 * i], x[2 * i + 1]),
                                _mm512_unpackhi_epi32(x[2 * i], x[2 * i + 1]));
  }
  // Every quarter of a register: the largest of that quarter of four.
  const auto quarters = [&pairs](int i) {
    return _mm512_max_epi32(_mm512_unpacklo_epi64(pairs[i], pairs[i + 1]),
                            _mm512_unpackhi_epi64(pairs[i], pairs[i + 1]));
  };
  const __m512i a = quarters(0);
  const __m512i b = quarters(2);
  const __m512i halves = _mm512_max_epi32(_mm512_shuffle_i32x4(a, b, 0x44),  // a0 a1 b0 b1
                                          _mm512_shuffle_i32x4(a, b, 0xEE));
  const __m256i low = _mm512_castsi512_si256(halves);
  const __m256i high = _mm512_extracti64x4_epi64(halves, 1);
  return _mm256_max_epi32(_mm256_permute2x128_si256(low, high, 0x20),
                          _mm256_permute2x128_si256(low, high, 0x31));
}

// The sums of four numbers each, of 8 registers: the lower halves', and the upper ones'.
void SumsOfHalves(const __m256i* x, __m256i& lower, __m256i& upper) {
  const auto four = [x](int i) {
    return _mm256_hadd_epi32(_mm256_hadd_epi32(x[i], x[i + 1]),
                             _mm256_hadd_epi32(x[i + 2], x[i + 3]));
  };
  const __m256i a = four(0);
  const __m256i b = four(4);
  lower = _mm256_permute2x128_si256(a, b, 0x20);
  upper = _mm256_permute2x128_si256(a, b, 0x31);
}

// Quantizes up to kBlocks blocks of values to column `c` of their records, side by side: what
// there is of each block to find and to divide is a register's work for all.
template <class W>
void QuantizeBlocks(const float* x, int64_t count, uint8_t* start, int64_t width, int64_t c) {
  // Behind the last one, it is quantized again.
  const auto at = [x, count](int b) { return x + std::min<int64_t>(b, count - 1) * kBlock; };
  // As integers the bits of positive floats are in order, with infinity and NaN on top.
  const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF);
  __m512i largest[kBlocks];
#pragma GCC unroll 8
  for (int b = 0; b < kBlocks; ++b) {
    largest[b] = _mm512_max_epi32(_mm512_and_si512(_mm512_loadu_si512(at(b)), magnitude),
                                  _mm512_and_si512(_mm512_loadu_si512(at(b) + 16), magnitude));
  }
  const __m256 max = _mm256_castsi256_ps(LargestOfEach(largest));
  const __m256 most = _mm256_set1_ps(127.0f);
  const __mmask8 finite =
      _mm256_cmp_ps_mask(max, _mm256_set1_ps(std::numeric_limits<float>::max()), _CMP_LE_OQ);
  // Below this the reciprocal overflows, and the values are nothing beside any other.
  const __mmask8 large = _mm256_mask_cmp_ps_mask(finite, max, _mm256_set1_ps(1e-36f), _CMP_GT_OQ);
  const __m256 nan = _mm256_set1_ps(std::numeric_limits<float>::quiet_NaN());
  alignas(32) float inverses[kBlocks];
  alignas(32) float scales[kBlocks];
  _mm256_store_ps(inverses, _mm256_maskz_div_ps(large, most, max));
  const __m256 scale = _mm256_mask_div_ps(nan, finite, max, most);
  _mm256_store_ps(scales, scale);

  __m256i sums[kBlocks];
#pragma GCC unroll 8
  for (int b = 0; b < kBlocks; ++b) {
    const __mmask16 used = (finite >> b & 1) != 0 ? 0xFFFF : 0;
    const __m512 factor = _mm512_set1_ps(inverses[b]);
    const auto quants = [&](const float* from) {
      const __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(from), factor);
      return _mm512_cvtsepi32_epi8(_mm512_maskz_cvtps_epi32(used, scaled));
    };
    const __m256i bytes = _mm256_set_m128i(quants(at(b) + 16), quants(at(b)));
    sums[b] = _mm256_dpbusd_epi32(_mm256_setzero_si256(), _mm256_set1_epi8(1), bytes);
    if (b >= count) continue;
    alignas(32) int32_t steps[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(steps), bytes);
    const Record record{start + b * width * kRecordBytes, width};
#pragma GCC unroll 8
    for (int s = 0; s < 8; ++s) record.step(s)[c] = steps[s];
  }

  __m256i lower, upper;
  SumsOfHalves(sums, lower, upper);
  const __m256i offset = _mm256_set1_epi32(-W::kOffset);
  alignas(32) int32_t firsts[kBlocks];
  alignas(32) int32_t seconds[kBlocks];
  const auto store = [](int32_t* to, __m256i from) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), from);
  };
  const auto scaled = [scale](__m256i sum) {
    return _mm256_castps_si256(_mm256_mul_ps(scale, _mm256_cvtepi32_ps(sum)));
  };
  if constexpr (W::kMins == 2) {
    static_assert(W::kHalves == 1 && W::kOffset == 0);
    store(firsts, scaled(lower));
    store(seconds, scaled(upper));
  } else if constexpr (W::kHalves == 2) {
    store(firsts, _mm256_mullo_epi32(lower, offset));
    store(seconds, _mm256_mullo_epi32(upper, offset));
  } else {
    const __m256i sum = _mm256_add_epi32(lower, upper);
    store(firsts, _mm256_mullo_epi32(sum, offset));
    store(seconds, scaled(sum));
  }
  for (int64_t b = 0; b < count; ++b) {
    const Record record{start + b * width * kRecordBytes, width};
    record.scale()[c] = scales[b];
    record.first()[c] = firsts[b];
    record.second()[c] = seconds[b];
  }
}

// Of the numbers that QuantizeBlocks() makes, by the same operations.
void Residual(const float* values, int64_t count, float* result) {
  const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF);
  for (int64_t i = 0; i < count; i += kBlock) {
    const __m512 halves[] = {_mm512_loadu_ps(values + i), _mm512_loadu_ps(values + i + 16)};
    const auto bits = [&](int half) {
      return _mm512_and_si512(_mm512_castps_si512(halves[half]), magnitude);
    };
    const __m512 max = _mm512_castsi512_ps(
        _mm512_set1_epi32(_mm512_reduce_max_epi32(_mm512_max_epi32(bits(0), bits(1)))));
    const __m512 most = _mm512_set1_ps(127.0f);
    // What is not finite stays so, and makes NaN of the sum.
    const __mmask16 large = _mm512_cmp_ps_mask(max, _mm512_set1_ps(1e-36f), _CMP_GT_OQ);
    const __m512 inverse = _mm512_maskz_div_ps(large, most, max);
    const __m512 scale = _mm512_div_ps(max, most);
    for (int half = 0; half < 2; ++half) {
      const __m512 quants = _mm512_roundscale_ps(_mm512_mul_ps(halves[half], inverse),
                                                 _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      _mm512_storeu_ps(result + i + 16 * half, _mm512_fnmadd_ps(quants, scale, halves[half]));
    }
  }
}

}  // namespace
}  // namespace oi::kernels::avx512
