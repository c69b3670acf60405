// GGML_OP_ROPE, rotary position embeddings, by our kernel.

#pragma once

#include "kernel_op.h"

namespace oi::kernels {

class RopeOp : public KernelOp {
 public:
  // False for pools that are not ours, and for what has no kernel: other types than floats, the
  // positions inside an image encoder, an offset of the values that are rotated.
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

}  // namespace oi::kernels
