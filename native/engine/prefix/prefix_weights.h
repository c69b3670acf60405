// The weights of an encoder that is read in parts, as llama.cpp has loaded them.

#pragma once

#include <string>
#include <vector>

struct ggml_tensor;

namespace oi {

class Model;

struct PrefixWeights {
  struct Linear {
    ggml_tensor* weights;  // [inputs][outputs], as ggml counts
    ggml_tensor* bias;
  };
  struct Norm {
    ggml_tensor* weights;
    ggml_tensor* shift;
  };
  struct Layer {
    Linear query, key, value, output, up, down;
    Norm attention, feed_forward;
  };

  size_t width = 0;
  size_t heads = 0;
  size_t hidden = 0;
  float epsilon = 0;
  bool exact = false;
  ggml_tensor* tokens = nullptr;
  ggml_tensor* positions = nullptr;
  ggml_tensor* types = nullptr;
  Norm embedding{};
  std::vector<Layer> layers;
};

// Throws EngineError ERR_MODEL_UNSUPPORTED that names a tensor which is missing or has another
// shape.
PrefixWeights FindPrefixWeights(const Model& model);

}  // namespace oi
