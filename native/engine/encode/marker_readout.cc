#include "marker_readout.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "../finite.h"
#include "../gguf_file.h"
#include "../logits/log_sum_exp.h"
#include "head_numbers.h"
#include "llama.h"
#include "marker_token.h"
#include "passes.h"
#include "pooling.h"
#include "summarize.h"

namespace oi {
namespace {

constexpr char kUnknownKey[] = "tokenizer.ggml.unknown_token_id";

bool StateFirst(const std::string& key, const std::string& text) {
  const auto at = [&](const std::string& name) {
    const size_t first = text.find(name);
    if (first == std::string::npos || text.find(name, first + 1) != std::string::npos) {
      RefuseKey(key, "expected " + name + " once");
    }
    return first;
  };
  const size_t state = at("{state}");
  const auto [first, last] = std::minmax({at("{question}"), at("{options}")});
  if (state > first && state < last) RefuseKey(key, "expected {state} first or last");
  return state < first;
}

}  // namespace

MarkerReadout::MarkerReadout(const GgufFile& file, const llama_model* model,
                             const std::string& prefix, std::unique_ptr<const Head> head)
    : HiddenReadout(!IsEncoder(file.Text("general.architecture").value_or("")),
                    static_cast<size_t>(std::max(0, llama_model_n_ctx_train(model)))),
      head_(std::move(head)) {
  const llama_vocab* vocab = llama_model_get_vocab(model);
  const auto text = [&](const std::string& key) { return file.Text(key).value_or(""); };
  const std::string template_key = prefix + "template";
  state_first_ = StateFirst(template_key, text(template_key));
  const std::string marker_key = prefix + "marker";
  marker_ = FindMarker(marker_key, text(marker_key), vocab);
  const std::string positions_key = prefix + "positions";
  const std::string positions = file.Text(positions_key).value_or("sequential");
  parallel_ = positions == "parallel";
  if (causal() && file.Has(positions_key)) RefuseKey(positions_key, "expected none");
  if (!parallel_ && positions != "sequential") {
    RefuseKey(positions_key, "expected sequential or parallel, got " + positions);
  }
  pass_options_ = file.Unsigned(prefix + "pass_options").value_or(0);
  const std::string alone_key = prefix + "alone";
  if (causal() && file.Has(alone_key)) RefuseKey(alone_key, "expected none");
  if (file.Has(alone_key)) alone_.emplace(alone_key, text(alone_key), vocab);
  // Unknown tokens can come from a caller's text, though many files list them as control tokens.
  const auto unknown = static_cast<Token>(file.Unsigned(kUnknownKey).value_or(UINT32_MAX));
  for (Token token = 0; token < llama_vocab_n_tokens(vocab); ++token) {
    const bool control = llama_vocab_get_attr(vocab, token) & LLAMA_TOKEN_ATTR_CONTROL;
    control_.push_back(control && token != unknown);
  }
}

// Every pass with options evaluates the state. Those of single texts come first: what is read of
// them is there when the others are.
RequestPlan MarkerReadout::Plan(const TokenizedRequest& request, size_t limit,
                                TextVectors& known) const {
  RequestPlan plan;
  AlonePasses alone(request, *this, limit, known);
  for (size_t i = 0; i < request.questions.size(); ++i) {
    if (request.questions[i].candidates.empty()) continue;
    for (PassPlan& pass : PlanPasses(request, i, *this, limit)) {
      if (alone_) alone.AddTo(pass);
      plan.passes.push_back(std::move(pass));
    }
  }
  alone.AddTo(plan);
  return plan;
}

std::vector<PassToken> MarkerReadout::TokensOf(const TokenizedRequest& request,
                                               const PassPlan& pass) const {
  if (pass.count > 0) return oi::TokensOf(request, pass, *this);
  std::vector<PassToken> tokens;
  for (const Token token : pass.alone) {
    tokens.push_back({token, tokens.size(), PassToken::Role::kNone, 0});
  }
  return tokens;
}

// Of a text alone, for the passes behind it. False if it is not finite.
bool MarkerReadout::Keep(const PassPlan& pass, const PassStates& states, Answering& task) {
  const std::vector<float> mean = Pool(states, Pooling::kMean);
  const size_t at = pass.texts.front() * states.width;
  task.kept.resize(std::max(task.kept.size(), at + states.width));
  std::copy(mean.begin(), mean.end(), task.kept.begin() + static_cast<ptrdiff_t>(at));
  if (CountFinite(mean.data(), mean.size()) < mean.size()) return false;
  task.known.Keep(task.request.scope, pass.alone, mean);
  return true;
}

bool MarkerReadout::Answer(const PassPlan& pass, const PassStates& states, Answering& task) const {
  if (pass.count == 0) return Keep(pass, states, task);
  float* logits = task.result.logits.data() + task.places[pass.question].logits;
  const std::vector<float> nothing(pass.texts.empty() ? 0 : states.width);
  const auto alone = [&](size_t i) -> const float* {
    if (pass.texts.empty() || pass.texts[i] == kNoText) return nothing.data();
    return task.kept.data() + pass.texts[i] * states.width;
  };
  const auto state = [&](size_t token) { return states.Of(token); };
  const PassSummaries summaries(states.tokens, pass.count, states.width, state, alone);
  bool finite = true;
  for (size_t option = 0; option < pass.count; ++option) {
    const float logit = head_->Logit(summaries.Of(option));
    finite = finite && IsFinite(logit);
    logits[pass.first + option] = logit;
  }
  // There is no vocabulary beside the options. The last pass has the sum over all of them.
  const size_t count = task.request.questions[pass.question].candidates.size();
  logits[count] = static_cast<float>(LogSumExp(logits, count));
  return finite;
}

}  // namespace oi
