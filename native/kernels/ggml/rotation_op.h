// GGML_OP_ROPE by our kernel.

#pragma once

#include "traits.h"

namespace oi::kernels {

class RotationOp : public ggml::cpu::tensor_traits {
 public:
  bool work_size(int threads, const ggml_tensor* op, size_t& size) override;
  // False for pools that are not ours, and for what has no kernel: other types than floats, the
  // positions of pictures inside themselves, an offset.
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

}  // namespace oi::kernels
