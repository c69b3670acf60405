// Writes a GGUF file: what is said about it first, then one tensor of random values after the
// other, in pieces. Memory stays bounded by the pieces whatever the file's size.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "architecture.h"
#include "ggml.h"
#include "gguf.h"

namespace oi {

// What is being done, and how much of it is, from 0 to 1.
using Progress = std::function<void(std::string_view stage, double done)>;

// Matrices have the type `matrix_type` (F32, F16 or BF16). Adds the tensors to `meta`. Throws
// std::runtime_error.
void WriteTensorFile(gguf_context* meta, const std::vector<Tensor>& tensors, ggml_type matrix_type,
                     uint64_t seed, int threads, const std::string& path, const Progress& progress);

}  // namespace oi
