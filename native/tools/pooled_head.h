// What files of rerankers, classifiers and embedding models have beside a model's own tensors and
// keys: src/prompt/hidden/README.md.

#pragma once

#include <vector>

#include "architecture.h"
#include "gguf.h"
#include "shapes.h"

namespace oi {

// Nothing for a shape without a pooled head, and for embeddings, which need none.
void AddPooledHead(const Shape& shape, std::vector<Tensor>& tensors);

// As llama.cpp's conversion writes them. Nothing for a shape without a pooled head.
void SetPooledHead(const Shape& shape, gguf_context* out);

}  // namespace oi
