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
#include <cmath>
#include <cstring>

#include "../attention.h"
#include "attention_block.h"
#include "attention_mask.h"

namespace oi::kernels::simd {

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

// Cells of a block, of which bit c of `used` names those that some row may see. A type of each S
// alone, so that its functions are too.
template <class S>
struct BlockCells {
  const uint8_t* cache;
  size_t stride;
  const int32_t* order;  // of the block's cells, as AttentionShape's
  uint32_t used;

  bool has(int64_t cell) const { return (used >> cell & 1) != 0; }
  const uint8_t* at(int64_t cell) const {
    return cache + static_cast<size_t>(order == nullptr ? cell : order[cell]) * stride;
  }
};

// As floats; what nobody sees is 0.
template <class S>
void Widen(CacheFormat format, const BlockCells<S>& cells, int64_t size, float* to) {
  for (int64_t cell = 0; cell < kCells; ++cell, to += size) {
    if (cells.has(cell)) {
      WidenCells<S>(format, cells.at(cell), 0, size, 1, to);
    } else {
      std::memset(to, 0, static_cast<size_t>(size) * sizeof(float));
    }
  }
}

template <class S>
void StartTile(const AttentionShape& shape, const AttentionRows<S>& rows, const Tile& tile) {
  std::memset(tile.results, 0, sizeof(float) * shape.value_size * kRows<S>);
  std::memset(tile.sum, 0, sizeof(float) * kRows<S>);
  std::fill_n(tile.maximum, kRows<S>, kLeastPower);
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
void AddSinks(const AttentionShape& shape, const AttentionRows<S>& rows, const Tile& tile) {
  for (int64_t i = 0; i < rows.count; ++i) {
    const double power = static_cast<double>(shape.sinks[rows.head(i)]) * M_LOG2E;
    // Too large for a float where all that is seen weighs nothing beside it: then so is the sum.
    tile.sum[i] += static_cast<float>(std::exp2(power - static_cast<double>(tile.maximum[i])));
  }
}

template <class S>
void FinishTile(const AttentionShape& shape, const AttentionRows<S>& rows, const Tile& tile) {
  if (shape.sinks != nullptr) AddSinks<S>(shape, rows, tile);
  FinishRows<S>(rows, tile, shape.value_size, [&](int64_t i) {
    return shape.results + (rows.token(i) * shape.heads + rows.head(i)) * shape.value_size;
  });
}

// A block of the cache that some tile of a task may see.
template <class S>
struct CacheBlock {
  int64_t cell;  // the first
  BlockCells<S> keys;
  BlockCells<S> values;
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
      uint32_t used = 0;
      for (int64_t i = 0; i < tiles; ++i) {
        block.masks[i] = LookAtMask<S>(shape, rows[i], block.cell);
        used |= block.masks[i].used;
      }
      if (used == 0) continue;
      const auto cells = [&](const uint8_t* cache, size_t head_stride, size_t stride) {
        const uint8_t* head = cache + key_head * head_stride;
        if (shape.order != nullptr)
          return BlockCells<S>{head, stride, shape.order + block.cell, used};
        return BlockCells<S>{head + static_cast<size_t>(block.cell) * stride, stride, nullptr,
                             used};
      };
      block.keys = cells(shape.keys, shape.key_head_stride, shape.key_cell_stride);
      block.values = cells(shape.values, shape.value_head_stride, shape.value_cell_stride);
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
    Widen<S>(shape.format, block.keys, shape.key_size, scratch.keys);
    Widen<S>(shape.format, block.values, shape.value_size, scratch.values);
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
TokenRange Tokens(const AttentionShape& shape, int threads, int64_t task) {
  const AttentionTask<S> work(shape, threads, task);
  const AttentionRows<S>& last = work.rows[work.tiles - 1];
  return {work.rows[0].token(0), last.token(last.count - 1) + 1};
}

template <class S>
void Look(const uint8_t* mask, int64_t cells, uint32_t* seen) {
  AttentionShape shape;
  shape.cells = cells;
  shape.mask = mask;
  for (int64_t cell = 0; cell < cells; cell += kCells, ++seen) {
    const uint32_t bits = CellBits<S>(shape, cell);
    *seen = bits & ~S::HiddenBits(MaskOfToken<S>(shape, 0, cell, bits));
  }
}

template <class S>
constexpr AttentionKernel kAttention{Tasks<S>, Tokens<S>, Look<S>, ScratchBytes<S>, Compute<S>};

}  // namespace oi::kernels::simd
