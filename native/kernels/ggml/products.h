// Products with tiled weights.

#pragma once

#include "traits.h"

namespace oi::kernels {

// Whether a tensor's rows can be tiled and this CPU has the kernel for them.
bool HasProduct(const ggml_tensor* weights);

// What a tensor's tiles take; of a tensor that has none, what its rows take.
size_t BytesOfTiles(const ggml_tensor* weights);

// The tiles of a tensor, from its rows as a file has them.
void SetWeights(ggml_tensor* weights, const void* rows, size_t offset, size_t size);

// GGML_OP_MUL_MAT and GGML_OP_MUL_MAT_ID.
class MatrixProducts : public ggml::cpu::tensor_traits {
 public:
  bool work_size(int threads, const ggml_tensor* op, size_t& size) override;
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

// GGML_OP_GLU of two products (graph_passes.h).
class GatedProducts : public ggml::cpu::tensor_traits {
 public:
  bool work_size(int threads, const ggml_tensor* op, size_t& size) override;
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

}  // namespace oi::kernels
