// Products of quantized weights on AVX-512 VNNI.
//
// Activations are quantized to 8 bits with a scale for each 32 values. `vpdpbusd` multiplies
// unsigned by signed bytes, so weights carry an offset; taking it off again, -offset * sum of the
// activations, is where the integer sums start and costs nothing. 32 rows x W::kGroup columns of
// sums stay in registers. Values are gone through in chunks whose weights fit the first cache.

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels.h"
#include "weights.h"

namespace oi::kernels::avx512 {
namespace {

// A block of a group of n columns: quants [8 steps][n][4], then floats or integers [n]: scales,
// where the sums start, and the same for the second half (or scale * sum, for minima).
constexpr int64_t kRecordBytes = 44;  // of one column
constexpr int64_t kChunkBlocks = 16;

struct Record {
  uint8_t* start;
  int64_t width;
  int32_t* step(int64_t s) const { return reinterpret_cast<int32_t*>(start) + s * width; }
  float* scale() const { return reinterpret_cast<float*>(start + 32 * width); }
  int32_t* first() const { return reinterpret_cast<int32_t*>(start + 36 * width); }
  int32_t* second() const { return reinterpret_cast<int32_t*>(start + 40 * width); }
};

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
  if constexpr (W::kHalves == 2) {
    store(firsts, _mm256_mullo_epi32(lower, offset));
    store(seconds, _mm256_mullo_epi32(upper, offset));
  } else {
    const __m256i sum = _mm256_add_epi32(lower, upper);
    store(firsts, _mm256_mullo_epi32(sum, offset));
    store(seconds, _mm256_castps_si256(_mm256_mul_ps(scale, _mm256_cvtepi32_ps(sum))));
  }
  for (int64_t b = 0; b < count; ++b) {
    const Record record{start + b * width * kRecordBytes, width};
    record.scale()[c] = scales[b];
    record.first()[c] = firsts[b];
    record.second()[c] = seconds[b];
  }
}

template <class W>
void Convert(const float* const* columns, int64_t width, int64_t, int64_t begin, int64_t end,
             uint8_t* group_start) {
  for (int64_t c = 0; c < width; ++c) {
    for (int64_t at = begin; at < end; at += kSuperBlock) {
      const int64_t count = std::min(kSuperBlock, end - at) / kBlock;
      QuantizeBlocks<W>(columns[c] + at, count, group_start + at / kBlock * width * kRecordBytes,
                        width, c);
    }
  }
}

// Of a chunk and a pair of tiles: [block][tile][W::kHalves + W::kMins][kTileRows].
template <class W>
constexpr int64_t kScales = (W::kHalves + W::kMins) * kTileRows;
template <class W>
using ChunkScales = float[kChunkBlocks * 2 * kScales<W>];

// R tiles x C columns, blocks begin to end. `continued`: adds to what the results hold.
template <class W, int R, int C>
void Compute(const uint8_t* tiles, int64_t k, size_t tile_bytes, const float* scales,
             const uint8_t* group, int64_t begin, int64_t end, float* const* results, int64_t row,
             bool continued) {
  W weights[] = {W(tiles, k), W(tiles + (R - 1) * tile_bytes, k)};  // the second unused if R is 1
  __m512 sums[R][C];
#pragma GCC unroll 2
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      sums[r][c] =
          continued ? _mm512_loadu_ps(results[c] + row + r * kTileRows) : _mm512_setzero_ps();
    }
  }

  for (int64_t block = begin; block < end; ++block, scales += 2 * kScales<W>) {
    const uint8_t* record = group + block * C * kRecordBytes;
    const auto* quants = reinterpret_cast<const int32_t*>(record);
    const auto* column_scales = reinterpret_cast<const float*>(record + 32 * C);
    const auto* starts = reinterpret_cast<const int32_t*>(record + 36 * C);
#pragma GCC unroll 2
    for (int r = 0; r < R; ++r) weights[r].At(block);
    __m512 products[R][C];
#pragma GCC unroll 2
    for (int half = 0; half < W::kHalves; ++half) {
      __m512i dots[R][C];
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const __m512i start =
            W::kOffset == 0 ? _mm512_setzero_si512() : _mm512_set1_epi32(starts[half * C + c]);
#pragma GCC unroll 2
        for (int r = 0; r < R; ++r) dots[r][c] = start;
      }
      constexpr int kSteps = 8 / W::kHalves;
#pragma GCC unroll 8
      for (int i = 0; i < kSteps; ++i) {
        const int s = half * kSteps + i;
        __m512i step[R];
#pragma GCC unroll 2
        for (int r = 0; r < R; ++r) step[r] = weights[r].Step(s);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) {
          const __m512i activations = _mm512_set1_epi32(quants[s * C + c]);
#pragma GCC unroll 2
          for (int r = 0; r < R; ++r) {
            dots[r][c] = _mm512_dpbusd_epi32(dots[r][c], step[r], activations);
          }
        }
      }
#pragma GCC unroll 2
      for (int r = 0; r < R; ++r) {
        const __m512 scale = _mm512_load_ps(scales + r * kScales<W> + half * kTileRows);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) {
          const __m512 dot = _mm512_cvtepi32_ps(dots[r][c]);
          products[r][c] =
              half == 0 ? _mm512_mul_ps(dot, scale) : _mm512_fmadd_ps(dot, scale, products[r][c]);
        }
      }
    }
#pragma GCC unroll 2
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const __m512 scale = _mm512_set1_ps(column_scales[c]);
        sums[r][c] = _mm512_fmadd_ps(products[r][c], scale, sums[r][c]);
      }
      if constexpr (W::kMins) {
        const auto* scaled_sums = reinterpret_cast<const float*>(record + 40 * C);
        const __m512 min = _mm512_load_ps(scales + r * kScales<W> + kTileRows);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) {
          sums[r][c] = _mm512_fnmadd_ps(min, _mm512_set1_ps(scaled_sums[c]), sums[r][c]);
        }
      }
    }
  }

#pragma GCC unroll 2
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      _mm512_storeu_ps(results[c] + row + r * kTileRows, sums[r][c]);
    }
  }
}

using ComputeFunction = void (*)(const uint8_t* tiles, int64_t k, size_t tile_bytes,
                                 const float* scales, const uint8_t* group, int64_t begin,
                                 int64_t end, float* const* results, int64_t row, bool continued);

// By width - 1.
template <class W, int R>
constexpr ComputeFunction kCompute[] = {
    Compute<W, R, 1>, Compute<W, R, 2>, Compute<W, R, 3>,
    Compute<W, R, 4>, Compute<W, R, 5>, Compute<W, R, W::kGroup>,
};

template <class W, Format kFormat>
void Multiply(const uint8_t* tiles, int64_t k, int64_t begin, int64_t end,
              const uint8_t* activations, int64_t columns, float* const* results) {
  const size_t tile_bytes = TileBytes(kFormat, k);
  const int64_t blocks = k / kBlock;
  const auto group_bytes = static_cast<int64_t>(ActivationBytes(k, 1));
  alignas(64) ChunkScales<W> scales;
  for (int64_t tile = begin; tile < end; tile += 2) {
    const int64_t pair = std::min<int64_t>(2, end - tile);
    const auto* compute = pair == 2 ? kCompute<W, 2> : kCompute<W, 1>;
    const uint8_t* weights = tiles + static_cast<size_t>(tile) * tile_bytes;
    for (int64_t chunk = 0; chunk < blocks; chunk += kChunkBlocks) {
      const int64_t chunk_end = std::min(blocks, chunk + kChunkBlocks);
      for (int64_t i = 0; i < pair; ++i) {
        const W of(weights + static_cast<size_t>(i) * tile_bytes, k);
        float* to = scales + i * kScales<W>;
        for (int64_t block = chunk; block < chunk_end; ++block, to += 2 * kScales<W>) {
          of.Scales(block, to);
        }
      }
      for (int64_t column = 0; column < columns; column += W::kGroup) {
        const int64_t width = std::min<int64_t>(W::kGroup, columns - column);
        compute[width - 1](weights, k, tile_bytes, scales, activations + column * group_bytes,
                           chunk, chunk_end, results + column, tile * kTileRows, chunk > 0);
      }
    }
  }
}

template <class W, Format kFormat>
constexpr ProductKernel kKernel{W::kGroup, ActivationBytes, Convert<W>, Multiply<W, kFormat>};

}  // namespace

const ProductKernel* Int8Product(Format format) {
  switch (format) {
    case Format::kQ8_0:
      return &kKernel<WeightsQ8_0, Format::kQ8_0>;
    case Format::kQ4_0:
      return &kKernel<WeightsQ4_0, Format::kQ4_0>;
    case Format::kQ4_K:
      return &kKernel<WeightsQ4_K, Format::kQ4_K>;
    case Format::kQ5_K:
      return &kKernel<WeightsQ5_K, Format::kQ5_K>;
    case Format::kQ6_K:
      return &kKernel<WeightsQ6_K, Format::kQ6_K>;
    default:
      return nullptr;
  }
}

}  // namespace oi::kernels::avx512
