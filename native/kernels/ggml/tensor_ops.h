// Operations on tensors of llama.cpp's own by our kernels. Each leaves to llama.cpp, by false, what
// has no kernel, and what is computed by pools that are not ours (pools.h).

#pragma once

#include "traits.h"

namespace oi::kernels {

class KernelOp : public ggml::cpu::tensor_traits {
 public:
  // False: llama.cpp computes its own size of the work buffer, which it needs where an operation is
  // left to it. Our kernels work in memory of each thread's own.
  bool work_size(int, const ggml_tensor*, size_t&) final { return false; }
};

// GGML_OP_FLASH_ATTN_EXT. No kernel: soft caps, ALiBi, odd sizes, other cache types.
class AttentionOp : public KernelOp {
 public:
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

// GGML_OP_RMS_NORM, and the GGML_OP_MUL behind it in one go; such a product is computed for any
// pool.
class NormOp : public KernelOp {
 public:
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};
// Whether a GGML_OP_MUL computes its norm too.
bool ComputesNorm(const ggml_tensor* product);

// GGML_UNARY_OP_GELU and GGML_GLU_OP_GEGLU, which llama.cpp looks up in a table of half precision.
class GeluOp : public KernelOp {
 public:
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};
bool IsGelu(const ggml_tensor* op);

// GGML_OP_ROPE, rotary position embeddings. No kernel: other types than floats, the positions
// inside an image encoder, an offset of the values that are rotated.
class RopeOp : public KernelOp {
 public:
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

// What is left to llama.cpp though a row's result may depend on other rows (pools.h): all but
// IsRowwise().
class DependentOp : public KernelOp {
 public:
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};
// Whether each row of the result is computed by itself, or copied.
bool IsRowwise(const ggml_tensor* op);

}  // namespace oi::kernels
