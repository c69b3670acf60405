// The head of `markers@1`: a cosine of option and state, and two layers.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "head.h"

namespace oi {

class GgufFile;

class MarkerHead final : public Head {
 public:
  // `width` of the hidden states. Throws EngineError ERR_MODEL_UNSUPPORTED naming the key that is
  // not as it must be.
  MarkerHead(const GgufFile& file, size_t width);

  float Logit(const Summaries& summaries) const override;

 private:
  // One input of the hidden layer: a summary, or of two, number by number, product or distance.
  struct Input {
    enum class Kind { kPlain, kProduct, kDistance };
    Kind kind;
    Summary first;
    Summary second;
  };

  static Input ParseInput(const std::string& text);
  void ReadCosine(const GgufFile& file);
  void ReadLayers(const GgufFile& file);
  float Cosine(const float* option, const float* state) const;
  float Layers(const Summaries& summaries) const;

  const size_t width_;
  std::optional<float> cosine_scale_;
  std::vector<float> cosine_weight_;  // empty: none
  std::vector<Input> inputs_;         // empty: no layers
  std::vector<float> hidden_weight_;
  std::vector<float> hidden_bias_;
  std::vector<float> output_weight_;
  float output_bias_ = 0;
};

}  // namespace oi
