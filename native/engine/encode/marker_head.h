// The head of `markers@1`: a cosine of option and state, one of question and state, and two layers.

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
  // `alone`: whether texts are read alone, too.
  MarkerHead(const GgufFile& file, size_t width, bool alone);

  float Logit(const Summaries& summaries) const override;

 private:
  // One input of the hidden layer: a summary, or of two, number by number, product or distance, or
  // their cosine, which is one number.
  struct Input {
    enum class Kind { kPlain, kProduct, kDistance, kCosine };
    Kind kind;
    Summary first;
    Summary second;
  };

  Input ParseInput(const std::string& text) const;
  std::optional<Summary> FindSummary(const std::string& name) const;
  void ReadCosine(const GgufFile& file);
  void ReadQuestionGate(const GgufFile& file);
  void ReadLayers(const GgufFile& file);
  size_t InputNumbers() const;
  float CosineTerm(const Summaries& summaries) const;
  float QuestionTerm(const Summaries& summaries) const;
  float Layers(const Summaries& summaries) const;

  const size_t width_;
  const bool alone_;
  std::optional<float> cosine_scale_;
  bool cosine_alone_ = false;         // of the texts alone, else of those in the pass
  std::vector<float> cosine_weight_;  // empty: none
  std::vector<float> cosine_gate_;    // empty: none
  std::vector<float> question_gate_;  // empty: none
  std::vector<Input> inputs_;         // empty: no layers
  std::vector<float> hidden_weight_;
  std::vector<float> hidden_bias_;
  std::vector<float> output_weight_;
  float output_bias_ = 0;
};

}  // namespace oi
