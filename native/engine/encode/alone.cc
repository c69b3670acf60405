#include "alone.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "../error.h"
#include "head_numbers.h"
#include "llama.h"
#include "marker_readout.h"
#include "passes.h"

namespace oi {
namespace {

constexpr char kPlace[] = "{text}";

std::vector<Token> Tokenize(const llama_vocab* vocab, const std::string& text) {
  std::vector<Token> tokens(text.size() + 1);
  const int32_t count = llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()),
                                       tokens.data(), static_cast<int32_t>(tokens.size()),
                                       /*add_special=*/false, /*parse_special=*/true);
  tokens.resize(static_cast<size_t>(std::max(0, count)));
  return tokens;
}

}  // namespace

AloneTemplate::AloneTemplate(const std::string& key, const std::string& source,
                             const llama_vocab* vocab) {
  const size_t at = source.find(kPlace);
  if (at == std::string::npos || source.find(kPlace, at + 1) != std::string::npos) {
    RefuseKey(key, std::string("expected ") + kPlace + " once");
  }
  before_ = Tokenize(vocab, source.substr(0, at));
  after_ = Tokenize(vocab, source.substr(at + sizeof kPlace - 1));
}

std::vector<Token> AloneTemplate::Around(const std::vector<Token>& text) const {
  std::vector<Token> tokens;
  if (text.empty()) return tokens;
  tokens.reserve(before_.size() + text.size() + after_.size());
  tokens.insert(tokens.end(), before_.begin(), before_.end());
  tokens.insert(tokens.end(), text.begin(), text.end());
  tokens.insert(tokens.end(), after_.begin(), after_.end());
  return tokens;
}

AlonePasses::AlonePasses(const TokenizedRequest& request, const MarkerReadout& readout,
                         size_t limit, TextVectors& known)
    : request_(request),
      readout_(readout),
      limit_(readout.positions() > 0 ? std::min(limit, readout.positions()) : limit),
      known_(known) {}

void AlonePasses::AddTo(PassPlan& pass) {
  using Range = QuestionPieces::Range;
  // Without the template's tokens.
  const auto number_of = [&](const std::vector<Token>& tokens, std::initializer_list<Range> parts,
                             int32_t question) {
    std::vector<Token> text;
    for (const Range& part : parts) {
      for (size_t i = part.begin; i < part.end; ++i) {
        if (!readout_.IsControl(tokens[i])) text.push_back(tokens[i]);
      }
    }
    return NumberOf(readout_.alone()->Around(text), question);
  };
  const std::vector<Token>& state = request_.prefix;
  const TokenizedQuestion& asked = request_.questions[pass.question];
  const QuestionPieces pieces = FindPieces(asked, readout_);
  const auto question = static_cast<int32_t>(pass.question);
  pass.texts.push_back(number_of(state, {{0, state.size()}}, kNoQuestion));
  pass.texts.push_back(number_of(asked.tokens, {pieces.before, pieces.after}, question));
  for (size_t i = 0; i < pass.count; ++i) {
    // The marker is a control token.
    pass.texts.push_back(number_of(asked.tokens, {pieces.options[pass.first + i]}, question));
  }
}

void AlonePasses::AddTo(RequestPlan& plan) {
  plan.passes.insert(plan.passes.begin(), passes_.begin(), passes_.end());
  plan.kept = std::move(kept_);
}

size_t AlonePasses::NumberOf(std::vector<Token> tokens, int32_t question) {
  const size_t count = tokens.size();
  if (count == 0) return kNoText;
  if (count > limit_) {
    const size_t state = request_.prefix.size();
    throw EngineError("ERR_STATE_TOO_LONG",
                      "a text alone takes " + std::to_string(count) + " tokens (the state " +
                          std::to_string(state) + "), the limit is " + std::to_string(limit_),
                      question);
  }
  const size_t number = numbers_.size();
  const auto [found, is_new] = numbers_.emplace(std::move(tokens), number);
  if (!is_new) return found->second;
  if (const std::vector<float>* vector = known_.Find(request_.scope, found->first)) {
    const size_t at = number * vector->size();
    kept_.resize(std::max(kept_.size(), at + vector->size()));
    std::copy(vector->begin(), vector->end(), kept_.begin() + static_cast<ptrdiff_t>(at));
  } else {
    passes_.push_back({0, 0, 0, count, {}, {number}, found->first});
  }
  return number;
}

}  // namespace oi
