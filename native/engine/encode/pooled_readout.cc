#include "pooled_readout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>

#include "../error.h"
#include "../finite.h"
#include "../logits/log_sum_exp.h"
#include "dot.h"
#include "head_numbers.h"
#include "llama.h"
#include "model_labels.h"
#include "pass_template.h"

namespace oi {
namespace {

constexpr char kReadoutKey[] = "oi.readout";
constexpr char kRankTemplate[] = "oi.rank.template";
constexpr char kRerankTemplate[] = "tokenizer.chat_template.rerank";
constexpr char kClassesTemplate[] = "oi.classes.template";
constexpr char kClassesLabels[] = "oi.classes.labels";
constexpr char kSimilarityTemplate[] = "oi.similarity.template";
constexpr char kSimilarityScale[] = "oi.similarity.scale";
constexpr char kPoolingKey[] = ".pooling_type";     // behind the architecture's name
constexpr char kCausalKey[] = ".attention.causal";  // likewise
constexpr float kDefaultScale = 20.0f;

// The question of a pass that holds the state alone.
constexpr size_t kStateAlone = SIZE_MAX;

std::string ArchitectureOf(const std::string& path) {
  return GgufFile(path).Text("general.architecture").value_or("");
}

float Length(const std::vector<float>& x) { return std::sqrt(Dot(x.data(), x.data(), x.size())); }

bool AllFinite(const std::vector<float>& x) { return CountFinite(x.data(), x.size()) == x.size(); }

std::string NumberText(float number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

// `question`: of the pass; kNoQuestion if it holds the state alone.
[[noreturn]] void RefuseLength(size_t tokens, size_t state, bool with_state, size_t limit,
                               int32_t question) {
  const size_t rest = with_state ? tokens - state : tokens;
  std::string what = "an option with its question takes ";
  if (with_state) what = "state and question with one option take ";
  if (tokens == state) what = "the state takes ";
  if (with_state && rest <= state) question = kNoQuestion;
  throw EngineError("ERR_STATE_TOO_LONG",
                    what + std::to_string(tokens) + " tokens (the state " + std::to_string(state) +
                        "), the limit is " + std::to_string(limit),
                    question);
}

}  // namespace

PooledReadout::PooledReadout(Kind kind, const std::string& path, const llama_model* model)
    : HiddenReadout(!IsEncoder(ArchitectureOf(path)),
                    static_cast<size_t>(std::max(0, llama_model_n_ctx_train(model)))),
      kind_(kind),
      architecture_(ArchitectureOf(path)) {
  const GgufFile file(path);
  // llama.cpp's other models of embeddings attend in both directions, but not as encoders do.
  const bool other = causal() && architecture_.find("embed") != std::string::npos;
  if (other || llama_model_has_encoder(model) || llama_model_is_recurrent(model) ||
      llama_model_is_hybrid(model)) {
    RefuseKey("general.architecture", architecture_ + " is not run for its hidden states");
  }
  // Attention in both directions needs a pass in one piece, which those of encoders alone are.
  if (causal() && !file.Bool(architecture_ + kCausalKey).value_or(true)) {
    RefuseKey(architecture_ + kCausalKey, "expected true of " + architecture_);
  }
  switch (kind) {
    case Kind::kRank:
      ReadRank(file, model);
      break;
    case Kind::kClasses:
      ReadClasses(file, model);
      break;
    case Kind::kSimilarity:
      ReadSimilarity(file, model);
      break;
  }
}

void PooledReadout::ReadRank(const GgufFile& file, const llama_model* model) {
  const std::vector<std::string> labels = LabelsOf(model);
  const std::optional<size_t> yes = YesOf(labels);
  if (labels.size() > 1 && !yes) {
    RefuseKey(architecture_ + ".classifier.output_labels",
              "rank@1 is for one output, or for the labels yes and no, not for " + JsonOf(labels));
  }
  outputs_ = yes ? 2 : 1;
  yes_ = yes.value_or(0);
  ReadHead(file, model);
  const auto written = file.Text(kRankTemplate);
  const auto own = written ? written : file.Text(kRerankTemplate);
  const std::string pair = own ? *own : PairTemplate(llama_model_get_vocab(model));
  state_first_ = pair.find("{document}") < pair.find("{query}");
  keys_ = {{kReadoutKey, "rank@1"}, {kRankTemplate, pair}};
}

void PooledReadout::ReadClasses(const GgufFile& file, const llama_model* model) {
  const std::vector<std::string> labels = LabelsOf(model);
  if (labels.size() < 2) {
    RefuseKey(architecture_ + ".classifier.output_labels", "expected two labels or more");
  }
  outputs_ = logits_ = labels.size();
  ReadHead(file, model);
  const auto written = file.Text(kClassesTemplate);
  keys_ = {{kReadoutKey, "classes@1"},
           {kClassesTemplate, written ? *written : TextTemplate(llama_model_get_vocab(model))},
           {kClassesLabels, JsonOf(labels)}};
}

// As build_pooling() of llama.cpp pools for a head.
void PooledReadout::ReadHead(const GgufFile& file, const llama_model* model) {
  pooling_ = causal()                         ? Pooling::kLast
             : architecture_ == "modern-bert" ? Pooling::kMean
                                              : Pooling::kFirst;
  head_.emplace(file, architecture_, static_cast<size_t>(llama_model_n_embd_out(model)), outputs_);
}

void PooledReadout::ReadSimilarity(const GgufFile& file, const llama_model* model) {
  const std::string key = architecture_ + kPoolingKey;
  switch (file.Unsigned(key).value_or(0)) {
    case LLAMA_POOLING_TYPE_MEAN:
      pooling_ = Pooling::kMean;
      break;
    case LLAMA_POOLING_TYPE_CLS:
      pooling_ = Pooling::kFirst;
      break;
    case LLAMA_POOLING_TYPE_LAST:
      pooling_ = Pooling::kLast;
      break;
    default:
      RefuseKey(key, "expected 1, 2 or 3 (mean, first or last token) for similarity@1");
  }
  scale_ = file.Has(kSimilarityScale) ? ReadNumber(file, kSimilarityScale) : kDefaultScale;
  if (!IsFinite(scale_) || scale_ <= 0) RefuseKey(kSimilarityScale, "expected a number over 0");
  const auto written = file.Text(kSimilarityTemplate);
  keys_ = {{kReadoutKey, "similarity@1"},
           {kSimilarityTemplate, written ? *written : TextTemplate(llama_model_get_vocab(model))},
           {kSimilarityScale, NumberText(scale_)}};
}

void PooledReadout::CheckCandidates(const TokenizedQuestion& question) const {
  for (const Token candidate : question.candidates) {
    if (static_cast<size_t>(candidate) < logits_) continue;
    throw EngineError("ERR_INVALID_ARGUMENT", "candidate " + std::to_string(candidate) +
                                                  " of a model with " + std::to_string(logits_) +
                                                  (logits_ == 1 ? " output" : " outputs"));
  }
}

// Questions that read the same share a pass: all of a classifier do.
std::vector<PassPlan> PooledReadout::Plan(const TokenizedRequest& request, size_t limit) const {
  const bool with_state = kind_ != Kind::kSimilarity;
  const size_t state = request.prefix.size();
  const size_t most = positions() > 0 ? std::min(limit, positions()) : limit;
  std::vector<PassPlan> plan;
  const auto add = [&](size_t question, size_t count, size_t tokens) {
    if (tokens > most) {
      const bool alone = question == kStateAlone;
      RefuseLength(tokens, state, with_state, most,
                   alone ? kNoQuestion : static_cast<int32_t>(question));
    }
    if (tokens == 0) throw EngineError("ERR_INVALID_ARGUMENT", "a pass has no tokens");
    plan.push_back({question, 0, count, tokens});
  };
  const auto by_tokens = [](const std::vector<Token>* a, const std::vector<Token>* b) {
    return *a < *b;
  };
  std::map<const std::vector<Token>*, size_t, decltype(by_tokens)> known(by_tokens);
  for (size_t i = 0; i < request.questions.size(); ++i) {
    const TokenizedQuestion& question = request.questions[i];
    CheckCandidates(question);
    const size_t tokens = question.tokens.size() + (with_state ? state : 0);
    if (question.candidates.empty()) continue;
    if (!with_state && plan.empty()) add(kStateAlone, 0, state);
    const auto [found, is_new] = known.emplace(&question.tokens, plan.size());
    if (is_new) {
      add(i, question.candidates.size(), tokens);
    } else {
      plan[found->second].sharers.push_back(i);
    }
  }
  return plan;
}

std::vector<Token> PooledReadout::TokensOf(const TokenizedRequest& request,
                                           const PassPlan& pass) const {
  std::vector<Token> tokens;
  tokens.reserve(pass.tokens);
  const auto add = [&](const std::vector<Token>& all) {
    tokens.insert(tokens.end(), all.begin(), all.end());
  };
  const bool alone = pass.question == kStateAlone;
  const bool with_state = alone || kind_ != Kind::kSimilarity;
  if (with_state && state_first_) add(request.prefix);
  if (!alone) add(request.questions[pass.question].tokens);
  if (with_state && !state_first_) add(request.prefix);
  return tokens;
}

// `logits_` of them.
std::vector<float> PooledReadout::Logits(const std::vector<float>& pooled,
                                         const Answering& task) const {
  if (kind_ == Kind::kSimilarity) {
    const float lengths = Length(pooled) * Length(task.kept);
    const float cosine =
        lengths > 0 ? Dot(pooled.data(), task.kept.data(), pooled.size()) / lengths : 0.0f;
    return {scale_ * cosine};
  }
  std::vector<float> outputs = head_->Outputs(pooled);
  // The softmax of llama.cpp over both has the probability of yes: the sigmoid of this.
  if (kind_ == Kind::kRank && outputs.size() == 2) return {outputs[yes_] - outputs[1 - yes_]};
  return outputs;
}

bool PooledReadout::Answer(const PassPlan& pass, const PassStates& states, Answering& task) const {
  const std::vector<float> pooled = Pool(states, pooling_);
  // What is not finite could be lost: tanh makes 1 of infinity.
  if (!AllFinite(pooled)) return false;
  if (pass.question == kStateAlone) {
    task.kept = pooled;
    return true;
  }
  const std::vector<float> logits = Logits(pooled, task);
  const auto sum = static_cast<float>(LogSumExp(logits.data(), logits.size()));
  const auto write = [&](size_t question) {
    const std::vector<Token>& candidates = task.request.questions[question].candidates;
    float* out = task.result.logits.data() + task.places[question].logits;
    float best = -INFINITY;
    for (const Token candidate : candidates) {
      best = std::max(best, *out++ = logits[static_cast<size_t>(candidate)]);
    }
    *out = sum;
    const auto likelier = [best](float logit) { return logit > best; };
    task.result.ranks[task.places[question].rank] =
        static_cast<int32_t>(std::count_if(logits.begin(), logits.end(), likelier));
  };
  write(pass.question);
  for (const size_t question : pass.sharers) write(question);
  return AllFinite(logits);
}

}  // namespace oi
