// GGML_OP_FLASH_ATTN_EXT by our attention.

#pragma once

#include "kernel_op.h"

namespace oi::kernels {

class AttentionOp : public KernelOp {
 public:
  // False for pools that are not ours, and for what has no kernel: sinks, soft caps, ALiBi, odd
  // sizes, other cache types.
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

}  // namespace oi::kernels
