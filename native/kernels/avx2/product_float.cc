// Products of F16 and BF16 weights on AVX2, widened to floats in registers. Activations stay
// floats, which is more exact than stock llama.cpp's.
//
// Sums of kChunk values each are added up: the chunk is short, so that its weights stay in the
// first cache and rounding errors of long rows do not pile up. Few columns are computed for several
// tiles at once: a sum waits for the one before it, and there must be others meanwhile.

#include <immintrin.h>

#include <algorithm>

#include "../simd/float_columns.h"
#include "kernels.h"

namespace oi::kernels::avx2 {
namespace {

constexpr int64_t kChunk = 256;
constexpr int64_t kPairBytes = 64;  // two values of each of 16 rows
constexpr int kVectors = 2;         // of 8 rows, in a tile

// The first or second value of a pair, of rows 8 v to 8 v + 7. kSums: registers of sums that the
// others leave room for; GCC puts some of BF16's 12 on the stack, which takes half as long again.
struct WeightsF16 {
  static constexpr int kSums = 12;
  static __m256 Load(const uint8_t* pair, int value, int v) {
    const uint8_t* at = pair + value * 32 + v * 16;
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
  }
};

struct WeightsBF16 {
  static constexpr int kSums = 10;
  static __m256 Load(const uint8_t* pair, int value, int v) {
    const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pair + v * 32));
    const __m256i zero = _mm256_setzero_si256();
    return _mm256_castsi256_ps(value == 0 ? _mm256_slli_epi32(both, 16)
                                          : _mm256_blend_epi16(zero, both, 0xAA));
  }
};

// T tiles x C columns, values begin to end.
template <class W, int T, int C>
void Compute(const uint8_t* tiles, size_t tile_bytes, const float* columns, int64_t begin,
             int64_t end, float* const* results, int64_t row) {
  constexpr int kAll = T * kVectors;
  __m256 sums[kAll][C];
#pragma GCC unroll 8
  for (int v = 0; v < kAll; ++v) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) sums[v][c] = _mm256_setzero_ps();
  }
  for (int64_t i = begin; i < end; i += 2) {
    const uint8_t* pair = tiles + i / 2 * kPairBytes;
#pragma GCC unroll 2
    for (int value = 0; value < 2; ++value) {
      // A pair is loaded for each of its values: kept, it would push sums out of the registers.
      asm volatile("" ::: "memory");
      __m256 weights[kAll];
#pragma GCC unroll 8
      for (int v = 0; v < kAll; ++v) {
        weights[v] = W::Load(pair + v / kVectors * tile_bytes, value, v % kVectors);
      }
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const __m256 column = _mm256_set1_ps(columns[(i + value) * C + c]);
#pragma GCC unroll 8
        for (int v = 0; v < kAll; ++v) sums[v][c] = _mm256_fmadd_ps(weights[v], column, sums[v][c]);
      }
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kAll; ++v) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      float* result = results[c] + row + v * 8;
      const __m256 before = begin > 0 ? _mm256_loadu_ps(result) : _mm256_setzero_ps();
      _mm256_storeu_ps(result, _mm256_add_ps(before, sums[v][c]));
    }
  }
}

struct Computer {
  int64_t tiles;  // at once
  void (*many)(const uint8_t* tiles, size_t tile_bytes, const float* columns, int64_t begin,
               int64_t end, float* const* results, int64_t row);
  decltype(many) one;
};

template <class W>
constexpr int64_t kGroup = W::kSums / kVectors;

template <class W, int C>
constexpr Computer ComputerOf() {
  // Of several tiles 8 sums, which are enough for none to wait.
  constexpr int kTiles = std::max(1, 4 / C);
  return {kTiles, Compute<W, kTiles, C>, Compute<W, 1, C>};
}

// By width - 1; the last may be of the width before.
template <class W>
constexpr Computer kComputers[] = {
    ComputerOf<W, 1>(), ComputerOf<W, 2>(), ComputerOf<W, 3>(),
    ComputerOf<W, 4>(), ComputerOf<W, 5>(), ComputerOf<W, kGroup<W>>(),
};

// Columns `from` to `to`, which stay in the second cache.
template <class W>
void MultiplyPart(const uint8_t* tiles, int64_t k, int64_t begin, int64_t end, const float* all,
                  int64_t from, int64_t to, float* const* results) {
  const auto tile_bytes = static_cast<size_t>(k / 2 * kPairBytes);
  // Tiles whose chunks stay in the first cache for all columns; for a few groups it is more.
  const int64_t cached = to - from <= 4 * kGroup<W> ? 4 : 2;
  for (int64_t first = begin; first < end; first += cached) {
    const int64_t last = std::min(end, first + cached);
    for (int64_t chunk = 0; chunk < k; chunk += kChunk) {
      const int64_t chunk_end = std::min(k, chunk + kChunk);
      for (int64_t column = from; column < to; column += kGroup<W>) {
        const Computer& computer = kComputers<W>[std::min(kGroup<W>, to - column) - 1];
        for (int64_t tile = first; tile < last;) {
          const bool many = last - tile >= computer.tiles;
          const auto compute = many ? computer.many : computer.one;
          compute(tiles + static_cast<size_t>(tile) * tile_bytes, tile_bytes, all + column * k,
                  chunk, chunk_end, results + column, tile * kTileRows);
          tile += many ? computer.tiles : 1;
        }
      }
    }
  }
}

template <class W>
void Multiply(const uint8_t* tiles, int64_t k, int64_t begin, int64_t end,
              const uint8_t* activations, int64_t columns, float* const* results) {
  constexpr int64_t kCachedFloats = 1 << 16;
  const int64_t part = std::max<int64_t>(8, kCachedFloats / k / kGroup<W>) * kGroup<W>;
  for (int64_t from = 0; from < columns; from += part) {
    MultiplyPart<W>(tiles, k, begin, end, reinterpret_cast<const float*>(activations), from,
                    std::min(columns, from + part), results);
  }
}

template <class W>
constexpr ProductKernel kKernel{kGroup<W>, simd::FloatColumnBytes, simd::ConvertFloatColumns,
                                Multiply<W>};

}  // namespace

const ProductKernel* FloatProduct(Format format) {
  if (format == Format::kF16) return &kKernel<WeightsF16>;
  if (format == Format::kBF16) return &kKernel<WeightsBF16>;
  return format == Format::kF32 ? F32Product() : nullptr;
}

}  // namespace oi::kernels::avx2
