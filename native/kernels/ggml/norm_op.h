// GGML_OP_RMS_NORM by our kernel, and the GGML_OP_MUL behind it in one go.

#pragma once

#include "traits.h"

namespace oi::kernels {

// Whether it is a product that computes its norm too.
bool ComputesNorm(const ggml_tensor* product);

class NormOp : public ggml::cpu::tensor_traits {
 public:
  bool work_size(int threads, const ggml_tensor* op, size_t& size) override;
  // A norm, of the pools that are ours; or a product that computes its norm too, of any.
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

}  // namespace oi::kernels
