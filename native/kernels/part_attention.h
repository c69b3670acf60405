// Attention of parts: of tokens that each see a few runs of cells, wherever these lie (an encoder
// that is read in parts: ../engine/prefix/). Nothing is multiplied with what nobody sees.
//
// Rows of a tile are tokens of one request. Each block of cells consists of runs, and a row sees at
// most one of them.
//
// Rule: a result depends on its query and on the runs that its row sees, in their order, in every
// bit: not on the other rows, nor on what else lies in a block.

#pragma once

#include <cstddef>
#include <cstdint>

#include "attention.h"

namespace oi::kernels {

constexpr int64_t kPartCells = 32;  // of a block at most

// Cells that follow one another.
struct CellRun {
  const uint8_t* keys = nullptr;  // of the first cell, of all heads
  const uint8_t* values = nullptr;
  int64_t count = 0;
};

struct PartBlock {
  const CellRun* runs = nullptr;
  int64_t count = 0;  // of the runs
  // [kPartCells][PartAttentionKernel::rows]: 0 where a row sees a cell, else -infinity; null if
  // there are kPartCells cells and every row sees all.
  const float* mask = nullptr;
};

// Strides are in bytes.
struct PartTile {
  int64_t size = 0;  // of a head, a multiple of 16
  CacheFormat format = CacheFormat::kF16;
  float scale = 1.0f;
  size_t cell_stride = 0;

  const float* queries = nullptr;  // of the first row, of all heads
  size_t query_stride = 0;
  float* results = nullptr;
  size_t result_stride = 0;
  int64_t rows = 0;  // at most PartAttentionKernel::rows
  const PartBlock* blocks = nullptr;
  int64_t count = 0;  // of the blocks
};

struct PartAttentionKernel {
  int64_t rows;  // of a tile at most
  // Bytes of its scratch memory, which is aligned to 64.
  size_t (*scratch_bytes)(int64_t size);
  void (*compute)(const PartTile& tile, int64_t head, uint8_t* scratch);
};

// Null if this CPU has none.
const PartAttentionKernel* FindPartAttention();

}  // namespace oi::kernels
