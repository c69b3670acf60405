// The cosines and sines of positions, kept from layer to layer and from step to step.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ggml.h"

namespace oi::kernels {

// A token's: one number, or four (time, height, width and another) where pictures have a place.
using Position = std::array<int32_t, 4>;

// Of one kind of GGML_OP_ROPE: of its parameters and frequency factors. Of one thread.
class Turns {
 public:
  explicit Turns(const ggml_tensor* op);

  // Whether the operation turns as this one does.
  bool IsFor(const ggml_tensor* op) const;

  // As RowKernel takes them, until the next call.
  const float* At(const Position& position);

 private:
  // Of positions that follow one another, as many as a step has at most, by default.
  static constexpr size_t kSlots = 2048;

  void Compute(const Position& position, float* turns);

  int64_t pairs_;
  bool halves_;
  std::array<int32_t, GGML_MAX_OP_PARAMS / sizeof(int32_t)> params_;
  std::vector<float> factors_;
  std::vector<Position> known_;  // [kSlots]
  std::vector<float> turns_;     // [kSlots][row_]
  size_t row_;
  std::vector<float> scratch_;
};

// Whether the pairs are (i, i + pairs), else neighbours.
bool TurnsHalves(const ggml_tensor* op);

// This thread's.
Turns& TurnsFor(const ggml_tensor* op);

}  // namespace oi::kernels
