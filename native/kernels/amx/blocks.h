// What products in tile registers share: the order in which blocks of up to two tiles of weights
// and two groups of columns are computed.
//
// From the third cache registers are fed at a quarter of their speed (measured), so all that is
// used more than once stays in the second: a chunk of up to 512 columns, which kPairs pairs of
// tiles are multiplied with, and the sums of these.
//
// A format W gives:
//   kChunk                  values whose weights, of two tiles, stay in the first cache
//   ColumnBytes(k)          of a converted column of k values
//   Shapes(first, second)   tile registers for groups that many columns wide
//   kValueBytes             bytes of a value of all rows of a tile, in its largest plane
//   Load(tile, k, r, begin, end)  makes these values of tile r (0 or 1) ready
//   W::Compute(block)       adds the chunk to the block's sums

#pragma once

#include <immintrin.h>

#include <algorithm>

#include "../format.h"
#include "tiles.h"

namespace oi::kernels::amx {

constexpr int64_t kGroup = 16;  // columns of a register
constexpr int64_t kBlockColumns = 2 * kGroup;
constexpr int64_t kColumns = 512;  // whose sums are kept
constexpr int64_t kPairs = 8;      // of tiles, too

// Sums of two groups of columns with two tiles: [group][tile][column][row].
using BlockSums = float[2][2][kGroup][kTileRows];
using Sums = BlockSums[kPairs][kColumns / kBlockColumns];

struct Block {
  int64_t begin = 0;  // values of the chunk
  int64_t end = 0;
  int64_t tiles = 0;              // 1 or 2
  int64_t widths[2] = {0, 0};     // columns of each group
  const uint8_t* groups[2] = {};  // converted columns
  BlockSums* sums = nullptr;      // of the chunks before
};

// Tile registers shaped for up to two groups of columns.
template <class W>
class Shaped {
 public:
  void For(const int64_t (&widths)[2]) {
    if (widths[0] == widths_[0] && widths[1] == widths_[1]) return;
    UseShapes(W::Shapes(widths[0], std::max<int64_t>(widths[1], 1)));
    std::copy_n(widths, 2, widths_);
  }

 private:
  const KeepShapes keep_;
  int64_t widths_[2] = {0, 0};
};

// Rows of `tiles` tiles, of `columns` columns, to the results from row `row` on.
inline void CopyOut(const Sums& sums, int64_t tiles, int64_t columns, float* const* results,
                    int64_t row) {
  for (int64_t c = 0; c < columns; ++c) {
    const int64_t in_block = c % kBlockColumns;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const BlockSums& block = sums[tile / 2][c / kBlockColumns];
      _mm512_storeu_ps(results[c] + row + tile * kTileRows,
                       _mm512_load_ps(block[in_block / kGroup][tile % 2][in_block % kGroup]));
    }
  }
}

// Part `part` of `parts` of these bytes on their way to the second cache.
inline void Prefetch(const uint8_t* from, int64_t bytes, int64_t part, int64_t parts) {
  for (int64_t i = bytes * part / parts; i < bytes * (part + 1) / parts; i += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(from + i), _MM_HINT_T1);
  }
}

// ProductKernel::multiply.
template <class W>
void Multiply(const uint8_t* tiles, int64_t k, int64_t begin, int64_t end,
              const uint8_t* activations, int64_t columns, float* const* results) {
  const auto tile_bytes = static_cast<int64_t>(TileBytes(W::kFormat, k));
  const int64_t column_bytes = W::ColumnBytes(k);
  alignas(64) Sums sums;
  W weights;
  Shaped<W> shaped;
  // Columns [start, start + width) with tiles [first, last).
  const auto multiply = [&](int64_t start, int64_t width, int64_t first, int64_t last) {
    Block block;
    for (block.begin = 0; block.begin < k; block.begin = block.end) {
      block.end = std::min(k, block.begin + W::kChunk);
      for (int64_t tile = first; tile < last; tile += 2) {
        block.tiles = std::min<int64_t>(2, last - tile);
        for (int64_t r = 0; r < block.tiles; ++r) {
          weights.Load(tiles + (tile + r) * tile_bytes, k, r, block.begin, block.end);
        }
        // Weights come from far away, too little at a time for the processor to foresee the next.
        const bool more = tile + 2 < last;
        const uint8_t* next = tiles + (more ? tile + 2 : first) * tile_bytes +
                              (more ? block.begin : block.end) * W::kValueBytes;
        const int64_t next_bytes = (block.end - block.begin) * W::kValueBytes;
        const int64_t parts = (width + kBlockColumns - 1) / kBlockColumns;
        for (int64_t column = 0; column < width; column += kBlockColumns) {
          Prefetch(next, next_bytes, column / kBlockColumns, parts);
          Prefetch(next + tile_bytes, next_bytes, column / kBlockColumns, parts);
          for (int64_t group = 0; group < 2; ++group) {
            const int64_t at = column + group * kGroup;
            block.widths[group] = std::clamp<int64_t>(width - at, 0, kGroup);
            block.groups[group] = activations + (start + at) * column_bytes;
          }
          block.sums = &sums[(tile - first) / 2][column / kBlockColumns];
          shaped.For(block.widths);
          weights.Compute(block);
        }
      }
    }
    CopyOut(sums, last - first, width, results + start, first * kTileRows);
  };
  for (int64_t column = 0; column < columns; column += kColumns) {
    const int64_t width = std::min(kColumns, columns - column);
    for (int64_t tile = begin; tile < end; tile += 2 * kPairs) {
      multiply(column, width, tile, std::min(end, tile + 2 * kPairs));
    }
  }
}

}  // namespace oi::kernels::amx
