// Reads the size of each layer's weights from the file's header, before they are loaded.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace oi {

struct LayerWeights {
  struct Layer {
    uint64_t bytes = 0;         // without its experts
    uint64_t expert_bytes = 0;  // of a mixture of experts
  };
  uint64_t input_bytes = 0;   // token embeddings: always in RAM
  std::vector<Layer> layers;  // those of the model, then the output head
};

// Of a split model, `path` is its first part. Throws EngineError ERR_MODEL_LOAD.
LayerWeights ReadLayerWeights(const std::string& path);

// As llama.cpp wants it: which tensors are the experts of a layer.
std::string ExpertsPattern(size_t layer);

}  // namespace oi
