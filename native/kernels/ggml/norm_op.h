// GGML_OP_RMS_NORM by our kernel, and the GGML_OP_MUL behind it in one go.

#pragma once

#include "kernel_op.h"

namespace oi::kernels {

// Whether a GGML_OP_MUL computes its norm too.
bool ComputesNorm(const ggml_tensor* product);

class NormOp : public KernelOp {
 public:
  // A norm, of the pools that are ours; or a product that computes its norm too, of any.
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

}  // namespace oi::kernels
