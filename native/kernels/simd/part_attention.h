// Attention of parts (../part_attention.h) for any kind of registers, with the blocks of
// attention.h.

#pragma once

#include <algorithm>
#include <cstring>

#include "../part_attention.h"
#include "attention.h"

namespace oi::kernels::simd {

static_assert(kPartCells == kCells);

template <class S>
size_t PartScratchBytes(int64_t size) {
  return sizeof(float) *
         static_cast<size_t>(2 * kCells * (size + kRows<S>)+2 * (size + 1) * kRows<S>);
}

// A block's cells of one head, one run after the other, as floats; behind them, zeros.
template <class S>
void WidenRuns(const PartTile& tile, const PartBlock& block, size_t head_at, float* keys,
               float* values) {
  int64_t cells = 0;
  for (const CellRun* run = block.runs; run != block.runs + block.count; ++run) {
    const int64_t at = cells * tile.size;
    WidenCells<S>(tile.format, run->keys + head_at, tile.cell_stride, tile.size, run->count,
                  keys + at);
    WidenCells<S>(tile.format, run->values + head_at, tile.cell_stride, tile.size, run->count,
                  values + at);
    cells += run->count;
  }
  const auto rest = static_cast<size_t>((kCells - cells) * tile.size) * sizeof(float);
  std::memset(keys + cells * tile.size, 0, rest);
  std::memset(values + cells * tile.size, 0, rest);
}

template <class S>
void ComputePart(const PartTile& part, int64_t head, uint8_t* memory) {
  AttentionShape shape;
  shape.key_size = shape.value_size = part.size;
  shape.heads = shape.key_heads = 1;
  shape.scale = part.scale;
  shape.queries = reinterpret_cast<const uint8_t*>(part.queries + head * part.size);
  shape.query_token_stride = part.query_stride;
  const AttentionRows<S> rows{0, part.rows, 1, 0};
  auto* next = reinterpret_cast<float*>(memory);
  const auto take = [&next](int64_t count) {
    float* start = next;
    next += count;
    return start;
  };
  Scratch<S> scratch{};
  scratch.keys = take(kCells * part.size);
  scratch.values = take(kCells * part.size);
  scratch.weights = take(kCells * kRows<S>);
  Tile& tile = scratch.tiles[0];
  tile.queries = take(part.size * kRows<S>);
  tile.results = take(part.size * kRows<S>);
  tile.maximum = take(kRows<S>);
  tile.sum = take(kRows<S>);

  StartTile<S>(shape, rows, tile);
  const size_t head_at = static_cast<size_t>(head * part.size) * BytesOf(part.format);
  const auto add_block = part.rows > S::kLanes ? AddBlock<S, 2> : AddBlock<S, 1>;
  for (const PartBlock* block = part.blocks; block != part.blocks + part.count; ++block) {
    WidenRuns<S>(part, *block, head_at, scratch.keys, scratch.values);
    add_block(shape, scratch, block->mask, tile);
  }
  FinishRows<S>(rows, tile, part.size, [&](int64_t row) {
    auto* to = reinterpret_cast<uint8_t*>(part.results + head * part.size);
    return reinterpret_cast<float*>(to + static_cast<size_t>(row) * part.result_stride);
  });
}

template <class S>
constexpr PartAttentionKernel kPartAttention{kRows<S>, PartScratchBytes<S>, ComputePart<S>};

}  // namespace oi::kernels::simd
