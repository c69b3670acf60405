// GGML_OP_ROPE by our kernel.

#pragma once

#include "kernel_op.h"

namespace oi::kernels {

class RotationOp : public KernelOp {
 public:
  // False for pools that are not ours, and for what has no kernel: other types than floats, the
  // positions of pictures inside themselves, an offset.
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

}  // namespace oi::kernels
