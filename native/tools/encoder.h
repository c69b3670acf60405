// What llama.cpp expects of an encoder of the architectures `bert` and `modern-bert`, and what ours
// reads beside it: a head for `prefix@1` (src/prompt/hidden/README.md).

#pragma once

#include <cstdint>
#include <vector>

#include "architecture.h"
#include "gguf.h"
#include "shapes.h"

namespace oi {

bool IsEncoder(const Shape& shape);

// In the order in which they are written.
std::vector<Tensor> EncoderTensors(const Shape& shape, int64_t vocabulary_size);

void SetEncoderHyperparameters(const Shape& shape, int64_t vocabulary_size, gguf_context* out);

// How it is asked, and a head of random numbers.
void SetParts(const Shape& shape, uint64_t seed, gguf_context* out);

}  // namespace oi
