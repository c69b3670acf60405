// The head of `markers@1`: from hidden states at chosen tokens to one logit for each option.
// src/prompt/hidden/README.md says what it computes, and where a file has its numbers.

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace oi {

class GgufFile;

// What is taken from the hidden states of a pass, each as wide as they are.
enum class Summary { kMarker, kOption, kState, kQuestion, kFirst };
constexpr size_t kSummaries = 5;
// By the number of its name.
using Summaries = std::array<const float*, kSummaries>;

class MarkerHead {
 public:
  // `width` of the hidden states. Throws EngineError ERR_MODEL_UNSUPPORTED naming the key that is
  // not as it must be.
  MarkerHead(const GgufFile& file, size_t width);

  // Single precision, in an order that depends on nothing else.
  float Logit(const Summaries& summaries) const;

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
