// Attention over a KV cache that many sequences share.
//
// The query heads that share a key head stand under one another for all tokens, as the rows of one
// tall matrix, multiplied with the cells of the cache; a row is a lane of a register, so the
// softmax of each row needs no sums across lanes. Blocks of cells that the mask hides from all rows
// of a task are neither read nor computed.
//
// Rules:
// 1. A result depends on its query and on the cells it may see, in their order, in every bit: not
//    on the other queries or on the threads, nor on what lies between these cells, unless they are
//    multiplied in pairs.
// 2. What lies in a cell that no row of a task may see is never computed with.

#pragma once

#include <cstddef>
#include <cstdint>

namespace oi::kernels {

enum class CacheFormat { kF16, kBF16, kF32 };

constexpr size_t BytesOf(CacheFormat format) { return format == CacheFormat::kF32 ? 4 : 2; }

// Strides are in bytes. Head and value sizes are multiples of 16.
struct AttentionShape {
  int64_t key_size = 0;
  int64_t value_size = 0;
  int64_t tokens = 0;
  int64_t heads = 0;
  int64_t key_heads = 0;  // divides heads
  int64_t cells = 0;
  CacheFormat format = CacheFormat::kF16;
  float scale = 1.0f;

  const uint8_t* queries = nullptr;  // floats
  size_t query_token_stride = 0;
  size_t query_head_stride = 0;
  const uint8_t* keys = nullptr;
  size_t key_cell_stride = 0;
  size_t key_head_stride = 0;
  const uint8_t* values = nullptr;
  size_t value_cell_stride = 0;
  size_t value_head_stride = 0;
  const uint8_t* mask = nullptr;  // fp16 [tokens][cells], added to the scores; null for none
  size_t mask_token_stride = 0;
  int64_t mask_begin = 0;  // the first token that the mask has
  // Where in the cache each of the `cells` lies, which the mask has in this order; null: cell i is
  // number i.
  const int32_t* order = nullptr;
  const float* sinks = nullptr;  // [heads], a score more in each softmax, of no value; null: none
  float* results = nullptr;      // [tokens][heads][value_size]
};

struct TokenRange {
  int64_t begin = 0;
  int64_t end = 0;
};

struct AttentionKernel {
  // Tasks that the whole is cut into, for `threads` threads.
  int64_t (*tasks)(const AttentionShape& shape, int threads);
  // The tokens whose rows a task computes.
  TokenRange (*tokens)(const AttentionShape& shape, int threads, int64_t task);
  // Bit c of word w of `seen`: whether a line of a mask lets cell 32 w + c be seen.
  void (*look)(const uint8_t* mask, int64_t cells, uint32_t* seen);
  // Bytes that a task works in; aligned to 64.
  size_t (*scratch_bytes)(int64_t key_size, int64_t value_size);
  void (*compute)(const AttentionShape& shape, int threads, int64_t task, uint8_t* scratch);
  int bits = 24;       // that are kept of a number
  bool pairs = false;  // rule 1: multiplies cells in pairs
};

// Null if this CPU has none. That of floats keeps all their bits.
const AttentionKernel* FindAttention(CacheFormat format);

}  // namespace oi::kernels
