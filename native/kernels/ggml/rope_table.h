// Cosines and sines of rotary position embeddings (RoPE), kept from layer to layer and from step to
// step.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ggml.h"

namespace oi::kernels {

// Of a token: one number, or four (time, height, width and another) in models whose images have
// positions in two dimensions.
using Position = std::array<int32_t, 4>;

// Of one kind of GGML_OP_ROPE, by its parameters and frequency factors. Used by one thread.
class RopeTable {
 public:
  explicit RopeTable(const ggml_tensor* op);

  // Whether the operation has the same parameters and factors.
  bool IsFor(const ggml_tensor* op) const;

  // The table that RowKernel takes (rows.h), valid until the next call.
  const float* At(const Position& position);

 private:
  // Positions that are kept, each in the slot of its remainder: as many as a step has at most, by
  // default.
  static constexpr size_t kSlots = 2048;

  void Compute(const Position& position, float* table);

  int64_t pairs_;
  bool halves_;
  std::array<int32_t, GGML_MAX_OP_PARAMS / sizeof(int32_t)> params_;
  std::vector<float> factors_;
  std::vector<Position> known_;  // [kSlots]
  std::vector<float> tables_;    // [kSlots][row_]
  size_t row_;
  std::vector<float> scratch_;
};

// Whether the pairs are (i, i + pairs), as in NeoX, else (2i, 2i + 1).
bool PairsAreHalves(const ggml_tensor* op);

// This thread's.
RopeTable& RopeTableFor(const ggml_tensor* op);

}  // namespace oi::kernels
