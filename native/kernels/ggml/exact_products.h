// Exact matmuls: each column of activations becomes two, itself as it is rounded and what that
// leaves, so that 16 bits of its values are multiplied instead of 8; their results are added.

#pragma once

struct ggml_tensor;

namespace oi::kernels {

// Of a matmul, before it is planned. It has effect where the weights lie as tiles.
void MakeExact(ggml_tensor* op);
bool IsExact(const ggml_tensor* op);

}  // namespace oi::kernels
