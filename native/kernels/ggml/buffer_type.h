// The type of the buffers that hold tiles, in ggml's CPU backend.

#pragma once

#include "ggml-backend.h"

namespace oi::kernels {

ggml_backend_buffer_type_t BufferType();

}  // namespace oi::kernels
