// What our operations on tensors of llama.cpp's own have in common.

#pragma once

#include "traits.h"

namespace oi::kernels {

class KernelOp : public ggml::cpu::tensor_traits {
 public:
  // False: llama.cpp computes its own size of the work buffer, which it needs where an operation is
  // left to it. Our kernels work in memory of each thread's own.
  bool work_size(int, const ggml_tensor*, size_t&) final { return false; }
};

}  // namespace oi::kernels
