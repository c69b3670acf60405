// What the products of BF16 and F16 weights share: R tiles x C columns of float sums in registers,
// summed over chunks of kChunk values, and the chunks' sums added up. The chunk is short, so that
// its weights stay in the first cache and rounding errors of long rows do not pile up.
//
// A format W gives:
//   kGroup                     columns that its registers leave room for
//   kValues                    values of a row per step
//   kTileStepBytes             bytes of a tile per step
//   Load(step)                 the weights of a step
//   Add(sum, weights, column)  sum + weights * the 4 bytes of one column's step

#pragma once

#include <immintrin.h>

#include <algorithm>
#include <iterator>

#include "../product.h"

namespace oi::kernels::avx512 {

constexpr int64_t kChunk = 256;

template <class W, int R, int C>
void ComputeFloat(const uint8_t* tiles, size_t tile_bytes, const uint8_t* group, int64_t begin,
                  int64_t end, float* const* results, int64_t row) {
  __m512 sums[R][C];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) sums[r][c] = _mm512_setzero_ps();
  }
  const auto* activations = reinterpret_cast<const float*>(group);
  for (int64_t step = begin / W::kValues; step < end / W::kValues; ++step) {
    typename W::Register weights[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      weights[r] = W::Load(tiles + r * tile_bytes + step * W::kTileStepBytes);
    }
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) {
      const __m512 column = _mm512_set1_ps(activations[step * C + c]);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sums[r][c] = W::Add(sums[r][c], weights[r], column);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) {
      float* result = results[c] + row + r * kTileRows;
      const __m512 before = begin > 0 ? _mm512_loadu_ps(result) : _mm512_setzero_ps();
      _mm512_storeu_ps(result, _mm512_add_ps(before, sums[r][c]));
    }
  }
}

using ComputeFloatFunction = void (*)(const uint8_t* tiles, size_t tile_bytes, const uint8_t* group,
                                      int64_t begin, int64_t end, float* const* results,
                                      int64_t row);

// By width - 1.
template <class W, int R>
constexpr ComputeFloatFunction kComputeFloat[] = {
    ComputeFloat<W, R, 1>, ComputeFloat<W, R, 2>,  ComputeFloat<W, R, 3>,  ComputeFloat<W, R, 4>,
    ComputeFloat<W, R, 5>, ComputeFloat<W, R, 6>,  ComputeFloat<W, R, 7>,  ComputeFloat<W, R, 8>,
    ComputeFloat<W, R, 9>, ComputeFloat<W, R, 10>, ComputeFloat<W, R, 11>, ComputeFloat<W, R, 12>,
};

// Few columns are few sums, each of which waits for the one before: more tiles keep the adders
// busy.
constexpr int64_t kManyTiles = 4;
template <class W>
constexpr ComputeFloatFunction kComputeFew[] = {ComputeFloat<W, kManyTiles, 1>,
                                                ComputeFloat<W, kManyTiles, 2>};

template <class W>
size_t FloatActivationBytes(int64_t k, int64_t columns) {
  return static_cast<size_t>(columns * (k / W::kValues) * 4);
}

template <class W>
void MultiplyFloat(const uint8_t* tiles, int64_t k, int64_t begin, int64_t end,
                   const uint8_t* activations, int64_t columns, float* const* results) {
  static_assert(W::kGroup <= 12);
  const auto tile_bytes = static_cast<size_t>(k / W::kValues * W::kTileStepBytes);
  const auto column_bytes = static_cast<int64_t>(FloatActivationBytes<W>(k, 1));
  const bool few = columns <= static_cast<int64_t>(std::size(kComputeFew<W>));
  int64_t count = 0;
  for (int64_t tile = begin; tile < end; tile += count) {
    count = few && end - tile >= kManyTiles ? kManyTiles : std::min<int64_t>(2, end - tile);
    const auto* compute = count == kManyTiles ? kComputeFew<W>
                          : count == 2        ? kComputeFloat<W, 2>
                                              : kComputeFloat<W, 1>;
    const uint8_t* weights = tiles + static_cast<size_t>(tile) * tile_bytes;
    for (int64_t chunk = 0; chunk < k; chunk += kChunk) {
      for (int64_t column = 0; column < columns; column += W::kGroup) {
        const int64_t width = std::min<int64_t>(W::kGroup, columns - column);
        compute[width - 1](weights, tile_bytes, activations + column * column_bytes, chunk,
                           std::min(k, chunk + kChunk), results + column, tile * kTileRows);
      }
    }
  }
}

}  // namespace oi::kernels::avx512
