// Matmuls of tiled weights with activations: what a set of kernels offers.
//
// Rules:
// 1. A result depends on its row of weights and its column of activations alone, in every bit: not
//    on how many other columns there are, on the threads, or on the place of either in a tile.
//    So every width of a kernel does the same float operations in the same order.
// 2. A column with a value that is not finite gives NaN (the quantized formats) or what IEEE
//    arithmetic gives (BF16, F16, F32), and changes no other column.

#pragma once

#include <cstdint>

#include "format.h"

namespace oi::kernels {

// Columns of activations, converted to what the kernels of one format multiply. They lie in groups
// of ProductKernel::group columns, the last group being as wide as what is left.
struct ProductKernel {
  // Columns that are computed side by side.
  int64_t group;
  // Bytes of `columns` converted columns of k values.
  size_t (*activation_bytes)(int64_t k, int64_t columns);
  // Converts the values from `begin` to `end` (multiples of kSuperBlock, or k) of the `width`
  // (at most `group`) columns of one group, which starts at `group_start`.
  void (*convert)(const float* const* columns, int64_t width, int64_t k, int64_t begin, int64_t end,
                  uint8_t* group_start);
  // Multiplies tiles begin to end with all columns: results[c][row] for the rows of these tiles.
  void (*multiply)(const uint8_t* tiles, int64_t k, int64_t begin, int64_t end,
                   const uint8_t* activations, int64_t columns, float* const* results);
  // Fuses two matmuls with the SwiGLU of their results (rows.h): results[c] are the SwiGLU's. Null:
  // two matmuls one after the other are as fast.
  void (*multiply_gated)(const uint8_t* gates, const uint8_t* values, int64_t k, int64_t begin,
                         int64_t end, const uint8_t* activations, int64_t columns,
                         float* const* results) = nullptr;
  // Whether quantized weights are rounded, to BF16. Else sums of their quants are exact.
  bool rounds_weights = false;
  // What `convert` rounds away of `count` (a multiple of kBlock) of a column's values: result[i] =
  // values[i] - what is multiplied for it. Null: nothing.
  void (*residual)(const float* values, int64_t count, float* result) = nullptr;
};

// Matrices with more rows are output heads, which are multiplied with few columns.
constexpr int64_t kVocabularyRows = 40'000;

// The kernels of this CPU for a format and rows of a whole matrix; null if it has none. `exact`:
// those that do not round weights. The same answer all along.
const ProductKernel* FindProduct(Format format, int64_t rows, bool exact = false);

// What the kernels are made of, "AVX-512 VNNI, BF16"; "" if this CPU has none.
const char* InstructionSet();

}  // namespace oi::kernels
