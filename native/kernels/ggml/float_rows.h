// Rows of floats that lie anyhow, each in one piece.

#pragma once

#include "ggml.h"

namespace oi::kernels {

inline bool HasFloatRows(const ggml_tensor* tensor) {
  return tensor->type == GGML_TYPE_F32 && tensor->nb[0] == sizeof(float);
}

inline float* Row(const ggml_tensor* tensor, int64_t i1, int64_t i2, int64_t i3) {
  return reinterpret_cast<float*>(static_cast<char*>(tensor->data) + i1 * tensor->nb[1] +
                                  i2 * tensor->nb[2] + i3 * tensor->nb[3]);
}

}  // namespace oi::kernels
