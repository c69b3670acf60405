// GGML_OP_FLASH_ATTN_EXT by our attention.

#pragma once

#include "traits.h"

namespace oi::kernels {

// Whether a pool's attention is ours; `on` false takes it off again.
void SetAttentionPool(const ggml_threadpool* pool, bool on);

// Whether it has computed attention, and always by our kernels.
bool TakesAllAttention(const ggml_threadpool* pool);

class AttentionOp : public ggml::cpu::tensor_traits {
 public:
  // False: llama.cpp's own size, which it may need too; our scratch is each thread's own.
  bool work_size(int threads, const ggml_tensor* op, size_t& size) override;
  // False for what has no kernel: sinks, soft caps, ALiBi, odd sizes, other cache types.
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override;
};

}  // namespace oi::kernels
