// The head of a reranker or a classifier, from the tensors `cls…` of its file.
//
// It computes what build_pooling() of llama.cpp's src/llama-graph.cpp does, but for the softmax
// behind a Qwen3 reranker.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "../gguf_file.h"

namespace oi {

class PooledHead {
 public:
  // `width` of the hidden states, `outputs` that it must have. Throws EngineError
  // ERR_MODEL_UNSUPPORTED naming the tensor that is not as it must be.
  PooledHead(const GgufFile& file, const std::string& architecture, size_t width, size_t outputs);

  // Of pooled hidden states. Single precision, in an order that depends on nothing else.
  std::vector<float> Outputs(const std::vector<float>& pooled) const;

 private:
  // A matrix and a bias, which may be missing.
  struct Layer {
    Matrix weight;
    std::vector<float> bias;
    std::vector<float> Of(const std::vector<float>& x) const;
  };

  static std::optional<Layer> ReadLayer(const GgufFile& file, const std::string& name,
                                        size_t width);
  void Normalize(std::vector<float>& x) const;

  std::optional<Layer> inner_;  // an activation is behind it
  std::vector<float> norm_;     // empty: none; behind the activation
  float epsilon_ = 0;
  std::optional<Layer> outer_;
  const bool gelu_;  // else tanh
};

}  // namespace oi
