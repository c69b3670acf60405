// GGML_UNARY_OP_GELU and GGML_GLU_OP_GEGLU, which llama.cpp looks up in a table of half precision.

#pragma once

#include "kernel_op.h"

namespace oi::kernels {

bool IsGelu(const ggml_tensor* op);

class GeluOp : public KernelOp {
 public:
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

}  // namespace oi::kernels
