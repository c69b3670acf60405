// The slots of op_params that our operations know.
//
// An operation with a value in another slot means more than it did when our kernel was written. So
// it is left to llama.cpp. ../test/op_params.cc checks what each known slot holds.

#pragma once

#include <cstdint>

#include "ggml.h"

namespace oi::kernels {

// Bit i: slot i of 32 bits.
using Slots = uint32_t;

constexpr Slots kNoSlots = 0;
constexpr Slots kNormSlots = 0b1;  // epsilon
// MUL_MAT and MUL_MAT_ID: the precision of sums, which are floats here; and that of columns, which
// for quantized weights are bytes with a scale, as in llama.cpp's own matmul on a CPU, unless they
// are exact (graph_passes.h).
constexpr Slots kProductSlots = 0b1001;
// Scale, ALiBi's bias, soft cap, precision.
constexpr Slots kAttentionSlots = 0b1111;
// All but n_past and n_ctx, which llama.cpp has long left at 0, and the offset of the rotated
// values, which our kernel does not support.
constexpr Slots kRopeSlots = 0b0111'1111'1111'0110;
constexpr Slots kUnarySlots = 0b1;  // the kind of function
// The kind of gate, and whether halves are swapped, which means nothing where they are two tensors.
constexpr Slots kGateSlots = 0b11;

// False if a slot besides `known` is not 0.
inline bool KnowsParams(const ggml_tensor* op, Slots known) {
  for (uint32_t slot = 0; slot < GGML_MAX_OP_PARAMS / sizeof(int32_t); ++slot) {
    if (((known >> slot) & 1) == 0 && op->op_params[slot] != 0) return false;
  }
  return true;
}

}  // namespace oi::kernels
