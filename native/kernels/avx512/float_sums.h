// What the products of BF16 and F16 weights share: R tiles x C columns of float sums in registers,
// summed over chunks of kChunk values, and the chunks' sums added up: tiles of a chunk stay in the
// second cache. Shorter ones add to the results more often, which lie apart in memory.
//
// A format W gives:
//   kGroup                     columns that its registers leave room for
//   kParts                     that a step is multiplied in, one after another
//   kValues                    values of a row per part
//   kTileStepBytes             bytes of a tile per step
//   Load<part>(step)           the weights of a part
//   Add(sum, weights, column)  sum + weights * the 4 bytes of one column's part

#pragma once

#include <immintrin.h>

#include <algorithm>

#include "../product.h"

namespace oi::kernels::avx512 {

constexpr int64_t kChunk = 4096;

template <class W, int kPart, int R, int C>
void AddPart(__m512 (&sums)[R][C], const uint8_t* tiles, size_t tile_bytes, const float* columns) {
  typename W::Register weights[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) weights[r] = W::template Load<kPart>(tiles + r * tile_bytes);
#pragma GCC unroll 16
  for (int c = 0; c < C; ++c) {
    const __m512 column = _mm512_set1_ps(columns[kPart * C + c]);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) sums[r][c] = W::Add(sums[r][c], weights[r], column);
  }
}

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
  constexpr int64_t kStepValues = W::kValues * W::kParts;
  for (int64_t step = begin / kStepValues; step < end / kStepValues; ++step) {
    const uint8_t* const at = tiles + step * W::kTileStepBytes;
    const float* const columns = activations + step * W::kParts * C;
    AddPart<W, 0, R, C>(sums, at, tile_bytes, columns);
    if constexpr (W::kParts == 2) AddPart<W, 1, R, C>(sums, at, tile_bytes, columns);
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

constexpr int64_t kMostTiles = 4;

// For one width of a group. A sum waits for the one before it: fewer columns take more tiles at
// once, 24 sums at most.
struct FloatComputer {
  int64_t tiles;
  ComputeFloatFunction many, two, one;

  ComputeFloatFunction For(int64_t count) const {
    return count == 1 ? one : count == 2 ? two : many;
  }
};

template <class W, int C>
constexpr FloatComputer ComputerOf() {
  constexpr int kTiles = C <= 6 ? kMostTiles : 2;
  return {kTiles, ComputeFloat<W, kTiles, C>, ComputeFloat<W, 2, C>, ComputeFloat<W, 1, C>};
}

// By width - 1.
template <class W>
constexpr FloatComputer kFloatComputers[] = {
    ComputerOf<W, 1>(), ComputerOf<W, 2>(),  ComputerOf<W, 3>(),  ComputerOf<W, 4>(),
    ComputerOf<W, 5>(), ComputerOf<W, 6>(),  ComputerOf<W, 7>(),  ComputerOf<W, 8>(),
    ComputerOf<W, 9>(), ComputerOf<W, 10>(), ComputerOf<W, 11>(), ComputerOf<W, 12>(),
};

template <class W>
size_t FloatActivationBytes(int64_t k, int64_t columns) {
  return static_cast<size_t>(columns * (k / W::kValues) * 4);
}

template <class W>
void MultiplyFloat(const uint8_t* tiles, int64_t k, int64_t begin, int64_t end,
                   const uint8_t* activations, int64_t columns, float* const* results) {
  static_assert(W::kGroup <= 12);
  const auto tile_bytes = static_cast<size_t>(k / (W::kValues * W::kParts) * W::kTileStepBytes);
  const auto column_bytes = static_cast<int64_t>(FloatActivationBytes<W>(k, 1));
  // Few groups of columns take tiles by fours, many by twos, which leave more of the cache to them.
  const int64_t cached = columns <= 4 * W::kGroup ? kMostTiles : 2;
  for (int64_t first = begin; first < end; first += cached) {
    const int64_t last = std::min(end, first + cached);
    for (int64_t chunk = 0; chunk < k; chunk += kChunk) {
      const int64_t chunk_end = std::min(k, chunk + kChunk);
      for (int64_t column = 0; column < columns; column += W::kGroup) {
        const int64_t width = std::min<int64_t>(W::kGroup, columns - column);
        const FloatComputer& computer = kFloatComputers<W>[width - 1];
        int64_t count = 0;
        for (int64_t tile = first; tile < last; tile += count) {
          count =
              last - tile >= computer.tiles ? computer.tiles : std::min<int64_t>(2, last - tile);
          computer.For(count)(tiles + static_cast<size_t>(tile) * tile_bytes, tile_bytes,
                              activations + column * column_bytes, chunk, chunk_end,
                              results + column, tile * kTileRows);
        }
      }
    }
  }
}

}  // namespace oi::kernels::avx512
