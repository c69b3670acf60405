// How a model is asked that answers by its hidden states, and how they become logits:
// src/prompt/hidden/README.md.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../types.h"
#include "pass.h"

struct llama_model;

namespace oi {

// By llama.cpp's name of the architecture: it attends in both directions and has no KV cache.
bool IsEncoder(std::string_view architecture);

// The hidden states of a pass, token by token, each `width` numbers.
struct PassStates {
  const float* rows;
  size_t count;
  size_t width;
  const float* Of(size_t token) const { return rows + token * width; }
};

// Where a question's numbers stand in the result; for questions with candidates.
struct QuestionPlace {
  size_t logits = 0;
  size_t rank = 0;
};

// A request while its passes are read, one after another in their order.
struct Answering {
  const TokenizedRequest& request;
  const std::vector<QuestionPlace>& places;
  ScoreResult& result;
  std::vector<float>& kept;  // what a pass leaves to later ones
};

class HiddenReadout {
 public:
  // Null if the model is none of these: neither by `name`, its oi.readout, nor by its pooling.
  // Throws EngineError ERR_MODEL_UNSUPPORTED naming the key or tensor that is not as it must be.
  static std::unique_ptr<const HiddenReadout> Read(const std::string& name, const std::string& path,
                                                   const llama_model* model);

  virtual ~HiddenReadout() = default;

  // A decoder's: a token sees those before it alone.
  bool causal() const { return causal_; }
  size_t positions() const { return positions_; }  // that the model has
  // Its keys, in full: those that the file lacks come from other metadata of the file.
  virtual std::vector<std::pair<std::string, std::string>> Keys() const { return {}; }

  // A question without candidates has no pass. Each has at most `limit` tokens. Throws EngineError
  // ERR_STATE_TOO_LONG with the numbers, ERR_INVALID_ARGUMENT if a question's candidates are not as
  // they must be.
  virtual std::vector<PassPlan> Plan(const TokenizedRequest& request, size_t limit) const = 0;
  // By their positions, from 0.
  virtual std::vector<Token> TokensOf(const TokenizedRequest& request,
                                      const PassPlan& pass) const = 0;
  // Writes the logits of the pass, and their question's log-sum-exp. False if any is not finite.
  virtual bool Answer(const PassPlan& pass, const PassStates& states, Answering& task) const = 0;

 protected:
  HiddenReadout(bool causal, size_t positions) : causal_(causal), positions_(positions) {}

 private:
  const bool causal_;
  const size_t positions_;
};

}  // namespace oi
