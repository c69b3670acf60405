// llama.cpp by itself: every prompt alone, from an empty context, by one plain llama_decode.
//
// What the engine's answers are compared with. Shares no code with the engine.

#pragma once

#include <string>
#include <vector>

struct llama_context;
struct llama_model;

namespace oi {

class PlainModel {
 public:
  // Throws std::runtime_error.
  PlainModel(const std::string& path, unsigned context_tokens);
  ~PlainModel();

  PlainModel(const PlainModel&) = delete;
  PlainModel& operator=(const PlainModel&) = delete;

  // `first`: of a prompt, so with the token that a model wants at its beginning.
  std::vector<int> Tokenize(const std::string& text, bool first) const;
  // Logits of the candidates behind the prompt, then the log-sum-exp over the vocabulary.
  std::vector<float> Logits(const std::vector<int>& prompt, const std::vector<int>& candidates);

 private:
  llama_model* model_;
  llama_context* context_;
};

}  // namespace oi
