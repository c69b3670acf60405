// What is computed row by row between the matmuls: norms, rotary position embeddings (RoPE), GELU
// and gates; and, fused for encoders, with the biases of the matmuls.
//
// Rule: a result depends on its row alone, in every bit.

#pragma once

#include <cstdint>

#include "attention.h"

namespace oi::kernels {

// The result may be the row itself; no other two of the arguments may overlap.
struct RowKernel {
  // result[i] = values[i] / sqrt(mean of the squares + epsilon) * weights[i], without weights if
  // these are null. Squares are exact, and summed as doubles.
  void (*norm)(const float* values, const float* weights, int64_t count, float epsilon,
               float* result);
  // RoPE of the NeoX layout: rotates each pair (values[i], values[i + pairs]) by its angle. `table`
  // has the cosines of all pairs, then their sines.
  void (*rope_halves)(const float* values, const float* table, int64_t pairs, float* result);
  // RoPE of the interleaved layout: rotates each pair (values[2i], values[2i + 1]). `table` has
  // each pair's cosine twice, then -sine and sine of each pair.
  void (*rope_neighbours)(const float* values, const float* table, int64_t pairs, float* result);
  // SwiGLU: result[i] = g / (1 + exp(-g)) * values[i], where g = gates[i].
  void (*swiglu)(const float* gates, const float* values, int64_t count, float* result);
  // GELU by its approximation with tanh: g = x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))),
  // where x = gates[i]; result[i] = g, or g * values[i] unless `values` is null.
  void (*gelu)(const float* gates, const float* values, int64_t count, float* result);

  // Of encoders. Counts are multiples of 16.
  //
  // x = row + added + bias; row = (x - mean of x) / sqrt(variance of x + epsilon) * weights +
  // shift. `added` and `bias` may be null.
  void (*layer_norm)(float* row, const float* added, const float* bias, const float* weights,
                     const float* shift, int64_t count, float epsilon);
  // row[i] += bias[i].
  void (*add_bias)(float* row, const float* bias, int64_t count);
  // row[i] = GELU of row[i] + bias[i].
  void (*bias_gelu)(float* row, const float* bias, int64_t count);
  // Rounds values[i] + bias[i] to what a cell holds.
  void (*to_cell)(const float* values, const float* bias, int64_t count, CacheFormat format,
                  uint8_t* cell);
};

// Null if this CPU has none.
const RowKernel* FindRows();

}  // namespace oi::kernels
