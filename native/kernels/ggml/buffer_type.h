// The type of the buffers that hold tiles, in ggml's CPU backend.

#pragma once

#include "ggml-backend.h"
#include "ggml.h"

namespace oi::kernels {

ggml_backend_buffer_type_t BufferType();

// Whether an operation is a matmul of weights in such a buffer.
bool IsTiledProduct(const ggml_tensor* op);

}  // namespace oi::kernels
