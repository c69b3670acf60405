// Attention (../attention.h) for any kind of registers, in floats throughout.
//
// A task is up to S::kMaxTiles tiles of rows of one key head. It goes through the cache in blocks
// of kCells cells: the block's keys and values become floats once for all tiles; then, for each
// tile, scores^T = keys * queries^T, an online softmax, results^T = results^T + values^T *
// weights^T.
//
// S gives a set's registers; everything here is a template over it, so that what is compiled for
// one set is never linked into another. A vector is of kLanes floats:
//   kMaxTiles, kStripe     tiles of a task; cells or values that registers hold beside two vectors
//   Zero() Set() Load() Store() Add() Subtract() Multiply() MultiplyAdd(a, b, c) = a b + c
//   NegativeMultiplyAdd(a, b, c) = c - a b      Max(a, b): b if either is NaN
//   Round()                to the nearest
//   TimesPowerOf2(a, b)    a * 2^b for whole b from -152 to 126
//   Reciprocal()           of floats from 1 to 2^126
//   WhereHidden(x, a, b)   a where x is -infinity, b elsewhere
//   LoadF16() LoadBF16()   kLanes values of the cache
//   Transpose(rows, to, stride)  a square: value i of row j goes to `to` + i * `stride` + j
// and Halfs, kCells fp16 values of a mask, of which `bits` names those that are there:
//   NoHalfs() LoadHalfs(at, bits)      zeros; those that are not there are zeros
//   HiddenBits() AnyBit()              which are -infinity; whether any is not all zeros
//   StoreHalfs(halfs, bits, to)        as floats; those that are not there are -infinity

#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "../attention.h"
#include "attention_block.h"
#include "attention_mask.h"

namespace oi::kernels::simd {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class S>
size_t ScratchBytes(int64_t key_size, int64_t value_size) {
  const int64_t sizes = key_size + value_size;
  const int64_t tile = (sizes + 2) * kRows<S>;
  return sizeof(float) * static_cast<size_t>(kCells * (sizes + 2 * kRows<S>)+S::kMaxTiles * tile);
}

template <class S>
Scratch<S> Divide(const AttentionShape& shape, uint8_t* memory) {
  auto* next = reinterpret_cast<float*>(memory);
  const auto take = [&next](int64_t count) {
    float* start = next;
    next += count;
    return start;
  };
  Scratch<S> scratch{};
  scratch.keys = take(kCells * shape.key_size);
  scratch.values = take(kCells * shape.value_size);
  scratch.weights = take(kCells * kRows<S>);
  scratch.mask = take(kCells * kRows<S>);
  for (Tile& tile : scratch.tiles) {
    tile.queries = take(shape.key_size * kRows<S>);
    tile.results = take(shape.value_size * kRows<S>);
    tile.maximum = take(kRows<S>);
    tile.sum = take(kRows<S>);
  }
  return scratch;
}

template <class S>
int64_t TilesPerTask(const AttentionShape& shape, int threads) {
  const int64_t rows = shape.tokens * (shape.heads / shape.key_heads);
  const int64_t tiles = (rows + kRows<S> - 1) / kRows<S>;
  // Enough tasks that no thread waits long for the last one.
  const int64_t wanted = tiles * shape.key_heads / (4 * threads);
  return std::clamp<int64_t>(wanted, 1, S::kMaxTiles);
}

template <class S>
int64_t TasksPerHead(const AttentionShape& shape, int threads) {
  const int64_t rows = shape.tokens * (shape.heads / shape.key_heads);
  const int64_t task_rows = TilesPerTask<S>(shape, threads) * kRows<S>;
  return (rows + task_rows - 1) / task_rows;
}

template <class S>
int64_t Tasks(const AttentionShape& shape, int threads) {
  return TasksPerHead<S>(shape, threads) * shape.key_heads;
}

// Cells that follow one another, as floats.
template <class S>
void WidenCells(CacheFormat format, const uint8_t* cells, size_t stride, int64_t size,
                int64_t count, float* to) {
  for (const uint8_t* from = cells; count > 0; --count, from += stride, to += size) {
    if (format == CacheFormat::kF32) {
      std::memcpy(to, from, static_cast<size_t>(size) * sizeof(float));
      continue;
    }
    for (int64_t i = 0; i < size; i += S::kLanes) {
      const uint8_t* at = from + i * 2;
      S::Store(to + i, format == CacheFormat::kF16 ? S::LoadF16(at) : S::LoadBF16(at));
    }
  }
}

// The cells of a block that `used` names, as floats; the others are 0.
template <class S>
void Widen(CacheFormat format, const uint8_t* cells, size_t stride, int64_t size, uint32_t used,
           float* to) {
  for (int64_t cell = 0; cell < kCells; ++cell, to += size) {
    if ((used >> cell & 1) == 0) {
      std::memset(to, 0, static_cast<size_t>(size) * sizeof(float));
    } else {
      WidenCells<S>(format, cells + static_cast<size_t>(cell) * stride, stride, size, 1, to);
    }
  }
}

template <class S>
void StartTile(const AttentionShape& shape, const AttentionRows<S>& rows, const Tile& tile) {
  std::memset(tile.results, 0, sizeof(float) * shape.value_size * kRows<S>);
  std::memset(tile.sum, 0, sizeof(float) * kRows<S>);
  std::fill_n(tile.maximum, kRows<S>, -kInfinity);
  const float* queries[kRows<S>];
  for (int64_t i = 0; i < kRows<S>; ++i) {
    // Rows that are missing repeat the last one.
    const int64_t row = std::min(i, rows.count - 1);
    const uint8_t* from = shape.queries + rows.token(row) * shape.query_token_stride +
                          rows.head(row) * shape.query_head_stride;
    queries[i] = reinterpret_cast<const float*>(from);
  }
  for (int64_t d = 0; d < shape.key_size; d += S::kLanes) {
    for (int64_t i = 0; i < kRows<S>; i += S::kLanes) {
      S::Transpose(queries + i, tile.queries + d * kRows<S> + i, kRows<S>);
    }
    for (const float*& query : queries) query += S::kLanes;
  }
}

// `place(row)`: where the `size` results of a row go.
template <class S, class Place>
void FinishRows(const AttentionRows<S>& rows, const Tile& tile, int64_t size, Place place) {
  for (int64_t d = 0; d < size; d += S::kLanes) {
    alignas(64) float values[kRows<S> * S::kLanes];
    for (int64_t i = 0; i < kRows<S>; i += S::kLanes) {
      const float* lines[S::kLanes];
      for (int64_t j = 0; j < S::kLanes; ++j) lines[j] = tile.results + (d + j) * kRows<S> + i;
      S::Transpose(lines, values + i * S::kLanes, S::kLanes);
    }
    for (int64_t i = 0; i < rows.count; ++i) {
      // A row that may see nothing: zeros, as stock llama.cpp has it.
      const float factor = tile.sum[i] == 0.0f ? 0.0f : 1.0f / tile.sum[i];
      const auto row = S::Load(values + i * S::kLanes);
      S::Store(place(i) + d, S::Multiply(row, S::Set(factor)));
    }
  }
}

template <class S>
void FinishTile(const AttentionShape& shape, const AttentionRows<S>& rows, const Tile& tile) {
  FinishRows<S>(rows, tile, shape.value_size, [&](int64_t i) {
    return shape.results + (rows.token(i) * shape.heads + rows.head(i)) * shape.value_size;
  });
}

// A block of the cache that some tile of a task may see.
template <class S>
struct CacheBlock {
  int64_t cell;  // the first
  uint32_t used;
  const uint8_t* keys;
  const uint8_t* values;
  BlockMask masks[S::kMaxTiles];
};

// The rows of a task.
template <class S>
struct AttentionTask {
  AttentionTask(const AttentionShape& shape, int threads, int64_t task) {
    const int64_t per_head = TasksPerHead<S>(shape, threads);
    const int64_t most = TilesPerTask<S>(shape, threads);
    const int64_t sharing = shape.heads / shape.key_heads;
    const int64_t all_rows = shape.tokens * sharing;
    key_head = task / per_head;
    for (int64_t row = task % per_head * most * kRows<S>; row < all_rows && tiles < most;
         row += kRows<S>, ++tiles) {
      rows[tiles] = {row, std::min(kRows<S>, all_rows - row), sharing, key_head * sharing};
    }
  }

  template <class Function>
  void ForEachBlock(const AttentionShape& shape, Function function) const {
    CacheBlock<S> block;
    for (block.cell = 0; block.cell < shape.cells; block.cell += kCells) {
      block.used = 0;
      for (int64_t i = 0; i < tiles; ++i) {
        block.masks[i] = LookAtMask<S>(shape, rows[i], block.cell);
        block.used |= block.masks[i].used;
      }
      if (block.used == 0) continue;
      const auto at = static_cast<size_t>(block.cell);
      block.keys = shape.keys + key_head * shape.key_head_stride + at * shape.key_cell_stride;
      block.values =
          shape.values + key_head * shape.value_head_stride + at * shape.value_cell_stride;
      function(block);
    }
  }

  int64_t key_head;
  AttentionRows<S> rows[S::kMaxTiles];
  int64_t tiles = 0;
};

template <class S>
void Compute(const AttentionShape& shape, int threads, int64_t task, uint8_t* memory) {
  const Scratch<S> scratch = Divide<S>(shape, memory);
  const AttentionTask<S> work(shape, threads, task);
  for (int64_t i = 0; i < work.tiles; ++i) StartTile<S>(shape, work.rows[i], scratch.tiles[i]);
  work.ForEachBlock(shape, [&](const CacheBlock<S>& block) {
    Widen<S>(shape.format, block.keys, shape.key_cell_stride, shape.key_size, block.used,
             scratch.keys);
    Widen<S>(shape.format, block.values, shape.value_cell_stride, shape.value_size, block.used,
             scratch.values);
    for (int64_t i = 0; i < work.tiles; ++i) {
      if (block.masks[i].used == 0) continue;
      const bool plain = block.masks[i].plain;
      if (!plain) SpreadMask<S>(shape, work.rows[i], block.cell, scratch.mask);
      const auto add_block = work.rows[i].count > S::kLanes ? AddBlock<S, 2> : AddBlock<S, 1>;
      add_block(shape, scratch, plain ? nullptr : scratch.mask, scratch.tiles[i]);
    }
  });
  for (int64_t i = 0; i < work.tiles; ++i) FinishTile<S>(shape, work.rows[i], scratch.tiles[i]);
}

template <class S>
constexpr AttentionKernel kAttention{Tasks<S>, ScratchBytes<S>, Compute<S>};

}  // namespace oi::kernels::simd
