// GGML_OP_GLU of two products of tiled weights (join_gates.h).

#pragma once

#include "traits.h"

namespace oi::kernels {

class GatedProducts : public ggml::cpu::tensor_traits {
 public:
  bool work_size(int threads, const ggml_tensor* op, size_t& size) override;
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

}  // namespace oi::kernels
