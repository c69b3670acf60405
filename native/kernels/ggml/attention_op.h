// GGML_OP_FLASH_ATTN_EXT by our attention.

#pragma once

#include "traits.h"

namespace oi::kernels {

class AttentionOp : public ggml::cpu::tensor_traits {
 public:
  // False: llama.cpp's own size, which it may need too; our scratch is each thread's own.
  bool work_size(int threads, const ggml_tensor* op, size_t& size) override;
  // False for pools that are not ours, and for what has no kernel: sinks, soft caps, ALiBi, odd
  // sizes, other cache types.
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

}  // namespace oi::kernels
