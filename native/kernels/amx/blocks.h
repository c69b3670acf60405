// What products in tile registers share: the order in which blocks of up to two tiles of weights
// and two groups of columns are computed.
//
// The third-level cache feeds registers at a quarter of their speed (measured), so all that is used
// more than once stays in the second-level one: a chunk of up to 512 columns, which kPairs pairs of
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
#include "../simd/rows.h"
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

// Of one column and one tile.
inline const float* SumsOf(const Sums& sums, int64_t tile, int64_t column) {
  const int64_t in_block = column % kBlockColumns;
  const BlockSums& block = sums[tile / 2][column / kBlockColumns];
  return block[in_block / kGroup][tile % 2][in_block % kGroup];
}

// Part `part` of `parts` of these bytes on their way to the second cache.
inline void Prefetch(const uint8_t* from, int64_t bytes, int64_t part, int64_t parts) {
  for (int64_t i = bytes * part / parts; i < bytes * (part + 1) / parts; i += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(from + i), _MM_HINT_T1);
  }
}

// Sums of up to 2 * kPairs tiles with up to kColumns columns. tile_at(i): tile i.
template <class W, class TileAt>
void AddUp(TileAt tile_at, int64_t tiles, int64_t k, const uint8_t* activations, int64_t columns,
           Shaped<W>& shaped, Sums& sums) {
  const int64_t column_bytes = W::ColumnBytes(k);
  W weights;
  Block block;
  for (block.begin = 0; block.begin < k; block.begin = block.end) {
    block.end = std::min(k, block.begin + W::kChunk);
    for (int64_t tile = 0; tile < tiles; tile += 2) {
      block.tiles = std::min<int64_t>(2, tiles - tile);
      for (int64_t r = 0; r < block.tiles; ++r) {
        weights.Load(tile_at(tile + r), k, r, block.begin, block.end);
      }
      // Weights come from memory, in pieces too short for the hardware prefetcher.
      const bool more = tile + 2 < tiles;
      const int64_t next = more ? tile + 2 : 0;
      const int64_t next_at = (more ? block.begin : block.end) * W::kValueBytes;
      const int64_t next_bytes = (block.end - block.begin) * W::kValueBytes;
      const int64_t parts = (columns + kBlockColumns - 1) / kBlockColumns;
      for (int64_t column = 0; column < columns; column += kBlockColumns) {
        for (int64_t r = 0; r < std::min<int64_t>(2, tiles - next); ++r) {
          Prefetch(tile_at(next + r) + next_at, next_bytes, column / kBlockColumns, parts);
        }
        for (int64_t group = 0; group < 2; ++group) {
          const int64_t at = column + group * kGroup;
          block.widths[group] = std::clamp<int64_t>(columns - at, 0, kGroup);
          block.groups[group] = activations + at * column_bytes;
        }
        block.sums = &sums[tile / 2][column / kBlockColumns];
        shaped.For(block.widths);
        weights.Compute(block);
      }
    }
  }
}

// Calls block(first tile, tiles, first column, columns) for all, in blocks of up to `most` tiles.
template <class Function>
void ForEachBlock(int64_t begin, int64_t end, int64_t most, int64_t columns, Function block) {
  for (int64_t column = 0; column < columns; column += kColumns) {
    const int64_t width = std::min(kColumns, columns - column);
    for (int64_t tile = begin; tile < end; tile += most) {
      block(tile, std::min(most, end - tile), column, width);
    }
  }
}

// ProductKernel::multiply.
template <class W>
void Multiply(const uint8_t* tiles, int64_t k, int64_t begin, int64_t end,
              const uint8_t* activations, int64_t columns, float* const* results) {
  const auto tile_bytes = static_cast<int64_t>(TileBytes(W::kFormat, k));
  alignas(64) Sums sums;
  Shaped<W> shaped;
  ForEachBlock(begin, end, 2 * kPairs, columns,
               [&](int64_t first, int64_t count, int64_t column, int64_t width) {
                 const auto tile_at = [&](int64_t i) { return tiles + (first + i) * tile_bytes; };
                 AddUp(tile_at, count, k, activations + column * W::ColumnBytes(k), width, shaped,
                       sums);
                 for (int64_t c = 0; c < width; ++c) {
                   float* to = results[column + c] + first * kTileRows;
                   for (int64_t i = 0; i < count; ++i, to += kTileRows) {
                     _mm512_storeu_ps(to, _mm512_load_ps(SumsOf(sums, i, c)));
                   }
                 }
               });
}

// ProductKernel::multiply_gated. Half of the tiles are gates, and their sums never leave the cache.
template <class W, class S>
void MultiplyGated(const uint8_t* gates, const uint8_t* values, int64_t k, int64_t begin,
                   int64_t end, const uint8_t* activations, int64_t columns,
                   float* const* results) {
  const auto tile_bytes = static_cast<int64_t>(TileBytes(W::kFormat, k));
  alignas(64) Sums sums;
  Shaped<W> shaped;
  ForEachBlock(begin, end, kPairs, columns,
               [&](int64_t first, int64_t count, int64_t column, int64_t width) {
                 const auto tile_at = [&](int64_t i) {
                   return i < count ? gates + (first + i) * tile_bytes
                                    : values + (first + i - count) * tile_bytes;
                 };
                 AddUp(tile_at, 2 * count, k, activations + column * W::ColumnBytes(k), width,
                       shaped, sums);
                 for (int64_t c = 0; c < width; ++c) {
                   float* to = results[column + c] + first * kTileRows;
                   for (int64_t i = 0; i < count; ++i, to += kTileRows) {
                     S::Store(to, simd::Swiglu<S>(S::Load(SumsOf(sums, i, c)),
                                                  S::Load(SumsOf(sums, count + i, c))));
                   }
                 }
               });
}

}  // namespace oi::kernels::amx
