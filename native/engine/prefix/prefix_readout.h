// `prefix@1`: an encoder that is read in parts, a state once for all questions about it
// (src/prompt/hidden/README.md): how a question's tokens become parts, and the head.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../types.h"

struct llama_model;

namespace oi {

// Tokens [begin, end) of a question that see each other, and where logits are read: at the
// question's first token, or at the markers of its options.
struct QuestionPart {
  size_t begin;
  size_t end;
  std::vector<size_t> read;  // of the question's tokens

  size_t size() const { return end - begin; }
};

// What a question asks for, which is its candidates' number.
enum class PrefixKind { kNoul, kOption, kLevel };
constexpr size_t kPrefixKinds = 3;

class PrefixReadout {
 public:
  // Null for any other readout. Throws EngineError ERR_MODEL_UNSUPPORTED naming the key that is
  // wrong.
  static std::unique_ptr<const PrefixReadout> Read(const std::string& name, const std::string& path,
                                                   const llama_model* model);

  size_t positions() const { return positions_; }
  // Row of the token types, by level: of a state, a question, an option.
  int32_t type(size_t level) const { return types_[level]; }

  // The question's own part, then its options'. Throws EngineError ERR_INVALID_ARGUMENT if its
  // candidates are not as they must be.
  std::vector<QuestionPart> Parts(const TokenizedQuestion& question) const;

  // From the state behind the last layer, where a logit is read.
  float Logit(PrefixKind kind, const float* state) const;

 private:
  PrefixReadout() = default;

  size_t width_ = 0;
  size_t positions_ = 0;
  Token marker_ = 0;
  bool together_ = true;
  std::array<int32_t, 3> types_{};
  std::vector<float> hidden_weight_;  // empty without this layer
  std::vector<float> hidden_bias_;
  std::vector<float> output_weight_;
  std::vector<float> output_bias_;
};

}  // namespace oi
