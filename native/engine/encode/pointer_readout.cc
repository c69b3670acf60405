#include "pointer_readout.h"

#include <algorithm>
#include <cstdint>

#include "../error.h"
#include "../finite.h"
#include "../gguf_file.h"
#include "../logits/log_sum_exp.h"
#include "head_numbers.h"
#include "llama.h"
#include "marker_token.h"

namespace oi {
namespace {

constexpr char kTemplateKey[] = "oi.pointer.template";
constexpr char kMarkerKey[] = "oi.pointer.marker";
constexpr char kPassOptionsKey[] = "oi.pointer.pass_options";
constexpr char kUnknownKey[] = "tokenizer.ggml.unknown_token_id";

bool StateFirst(const std::string& text) {
  const auto at = [&](const std::string& name) {
    const size_t first = text.find(name);
    if (first == std::string::npos || text.find(name, first + 1) != std::string::npos) {
      RefuseKey(kTemplateKey, "expected " + name + " once");
    }
    return first;
  };
  const size_t state = at("{state}");
  const auto [first, last] = std::minmax({at("{question}"), at("{options}")});
  if (state > first && state < last) RefuseKey(kTemplateKey, "expected {state} first or last");
  return state < first;
}

// Options [first, first + count) are those of pass `index` of `passes`.
PassPlan Share(size_t question, size_t options, size_t index, size_t passes) {
  const size_t first = options * index / passes;
  return {question, first, options * (index + 1) / passes - first, 0};
}

// The question has its template's tokens too.
[[noreturn]] void RefuseLength(const TokenizedRequest& request, size_t question, size_t needed,
                               size_t limit) {
  const size_t state = request.prefix.size();
  const size_t rest = needed - state;
  const size_t options = request.questions[question].candidates.size();
  throw EngineError("ERR_STATE_TOO_LONG",
                    "state and question with one option of its " + std::to_string(options) +
                        " take " + std::to_string(needed) + " tokens (" + std::to_string(state) +
                        " and " + std::to_string(rest) + "), the limit is " + std::to_string(limit),
                    rest > state ? static_cast<int32_t>(question) : kNoQuestion);
}

}  // namespace

PointerReadout::PointerReadout(const GgufFile& file, const llama_model* model)
    : HiddenReadout(true, static_cast<size_t>(std::max(0, llama_model_n_ctx_train(model)))),
      head_(file, static_cast<size_t>(llama_model_n_embd_out(model))) {
  const llama_vocab* vocab = llama_model_get_vocab(model);
  state_first_ = StateFirst(file.Text(kTemplateKey).value_or(""));
  marker_ = FindMarker(kMarkerKey, file.Text(kMarkerKey).value_or(""), vocab);
  pass_options_ = file.Unsigned(kPassOptionsKey).value_or(0);
  // Unknown tokens can come from a caller's text, though many files list them as control tokens.
  const auto unknown = static_cast<Token>(file.Unsigned(kUnknownKey).value_or(UINT32_MAX));
  for (Token token = 0; token < llama_vocab_n_tokens(vocab); ++token) {
    const bool control = llama_vocab_get_attr(vocab, token) & LLAMA_TOKEN_ATTR_CONTROL;
    control_.push_back(control && token != unknown);
  }
}

PointerReadout::Pieces PointerReadout::FindPieces(const TokenizedQuestion& question) const {
  const std::vector<Token>& tokens = question.tokens;
  Pieces pieces{};
  const auto marker = std::find(tokens.begin(), tokens.end(), marker_);
  size_t at = static_cast<size_t>(marker - tokens.begin());
  pieces.before = {0, at};
  while (at < tokens.size() && tokens[at] == marker_) {
    const size_t begin = at++;
    while (at < tokens.size() && !control_[static_cast<size_t>(tokens[at])]) ++at;
    pieces.options.push_back({begin, at});
  }
  pieces.after = {at, tokens.size()};
  if (pieces.options.size() != question.candidates.size()) {
    throw EngineError("ERR_INVALID_ARGUMENT",
                      "a question of " + std::to_string(question.candidates.size()) +
                          " options has " + std::to_string(pieces.options.size()) + " markers");
  }
  return pieces;
}

// Every pass evaluates the state.
std::vector<PassPlan> PointerReadout::Plan(const TokenizedRequest& request, size_t limit) const {
  const size_t most = positions() > 0 ? std::min(limit, positions()) : limit;
  std::vector<PassPlan> plan;
  for (size_t i = 0; i < request.questions.size(); ++i) {
    if (request.questions[i].candidates.empty()) continue;
    const std::vector<PassPlan> own = PlanQuestion(request, i, most);
    plan.insert(plan.end(), own.begin(), own.end());
  }
  return plan;
}

std::vector<PassPlan> PointerReadout::PlanQuestion(const TokenizedRequest& request, size_t question,
                                                   size_t most) const {
  const Pieces pieces = FindPieces(request.questions[question]);
  const size_t others = request.prefix.size() + pieces.before.size() + pieces.after.size();
  const size_t options = pieces.options.size();
  const size_t together = pass_options_ > 0 ? pass_options_ : options;
  for (size_t passes = (options + together - 1) / together;; ++passes) {
    std::vector<PassPlan> plan;
    bool fits = true;
    for (size_t index = 0; index < passes && fits; ++index) {
      PassPlan pass = Share(question, options, index, passes);
      pass.tokens = others;
      for (size_t i = 0; i < pass.count; ++i) pass.tokens += pieces.options[pass.first + i].size();
      fits = pass.tokens <= most;
      if (!fits && pass.count == 1) RefuseLength(request, question, pass.tokens, most);
      plan.push_back(pass);
    }
    if (fits) return plan;
  }
}

std::vector<Token> PointerReadout::TokensOf(const TokenizedRequest& request,
                                            const PassPlan& pass) const {
  const TokenizedQuestion& question = request.questions[pass.question];
  const Pieces pieces = FindPieces(question);
  std::vector<Token> tokens;
  tokens.reserve(pass.tokens);
  const auto add = [&](const Pieces::Range& range) {
    const auto begin = question.tokens.begin();
    tokens.insert(tokens.end(), begin + static_cast<ptrdiff_t>(range.begin),
                  begin + static_cast<ptrdiff_t>(range.end));
  };
  const auto add_state = [&] {
    tokens.insert(tokens.end(), request.prefix.begin(), request.prefix.end());
  };
  if (state_first_) add_state();
  add(pieces.before);
  for (size_t option = 0; option < pass.count; ++option) add(pieces.options[pass.first + option]);
  add(pieces.after);
  if (!state_first_) add_state();
  return tokens;
}

bool PointerReadout::Answer(const PassPlan& pass, const PassStates& states, Answering& task) const {
  const TokenizedQuestion& question = task.request.questions[pass.question];
  const Pieces pieces = FindPieces(question);
  float* logits = task.result.logits.data() + task.places[pass.question].logits;
  const float* last = states.Of(states.count - 1);
  size_t behind = (state_first_ ? task.request.prefix.size() : 0) + pieces.before.size();
  bool finite = true;
  for (size_t option = 0; option < pass.count; ++option) {
    behind += pieces.options[pass.first + option].size();
    const float logit = head_.Logit(last, states.Of(behind - 1));
    finite = finite && IsFinite(logit);
    logits[pass.first + option] = logit;
  }
  // There is no vocabulary beside the options. The last pass has the sum over all of them.
  const size_t count = question.candidates.size();
  logits[count] = static_cast<float>(LogSumExp(logits, count));
  return finite;
}

}  // namespace oi
