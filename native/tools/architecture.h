// What llama.cpp expects of a model of each architecture: metadata keys and tensors.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gguf.h"
#include "shapes.h"

namespace oi {

// How a tensor's values are drawn, and with it how it is stored: matrices in the model's
// type, everything else in F32, as llama.cpp's own conversion does.
enum class Fill {
  kMatrix,       // normal; the standard deviation is gain / sqrt(inputs)
  kConvolution,  // likewise, but F32: the operation takes nothing else
  kNorm,         // gain, with a little noise
  kDecay,        // negative decay rates of a gated delta net, uniform in (-16, -1)
  kTimeStep,     // bias whose softplus is log-uniform in (0.001, 0.1)
};

struct Tensor {
  std::string name;
  Fill fill;
  std::vector<int64_t> dims;  // ggml's order: inputs first
  float gain = 1.0f;

  int64_t Elements() const;
};

// In the order in which they are written.
std::vector<Tensor> TensorsOf(const Shape& shape, int64_t vocabulary_size);

void SetHyperparameters(const Shape& shape, int64_t vocabulary_size, gguf_context* out);

}  // namespace oi
