// The projectors that can be made: a small one for tests, for the fixtures whose input is as wide.
//
// In the form of Qwen2-VL: images of any size, a row for 28 x 28 pixels, and positions in two
// dimensions where the model has M-RoPE.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "architecture.h"
#include "gguf.h"

namespace oi {

struct Projector {
  const char* name;
  uint32_t layers;
  uint32_t width;
  uint32_t feed_forward;
  uint32_t heads;
  uint32_t patch;        // pixels, square
  uint32_t model_width;  // of the model's input
};

const std::vector<Projector>& Projectors();

// In the order in which they are written.
std::vector<Tensor> TensorsOf(const Projector& projector);

void SetHyperparameters(const Projector& projector, gguf_context* out);

}  // namespace oi
