// What is computed row by row between the products: norms, and the rotations that tell positions.
//
// Rule: a result depends on its row alone, in every bit.

#pragma once

#include <cstdint>

namespace oi::kernels {

// The result may be the row itself; no other two of the arguments may overlap.
struct RowKernel {
  // result[i] = values[i] / sqrt(mean of the squares + epsilon) * weights[i], without weights if
  // these are null. Squares are exact, and summed as doubles.
  void (*norm)(const float* values, const float* weights, int64_t count, float epsilon,
               float* result);
  // Turns each pair (values[i], values[i + pairs]) by its angle. `turns`: the cosines of all
  // pairs, then the sines.
  void (*turn_halves)(const float* values, const float* turns, int64_t pairs, float* result);
  // Turns each pair (values[2i], values[2i + 1]). `turns`: each cosine twice, then -sine and sine
  // of each pair.
  void (*turn_neighbours)(const float* values, const float* turns, int64_t pairs, float* result);
  // SwiGLU: result[i] = g / (1 + exp(-g)) * values[i], where g = gates[i].
  void (*swiglu)(const float* gates, const float* values, int64_t count, float* result);
};

// Null if this CPU has none.
const RowKernel* FindRows();

}  // namespace oi::kernels
