#include "alone.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "../error.h"
#include "head_numbers.h"
#include "llama.h"
#include "marker_readout.h"
#include "passes.h"

namespace oi {
namespace {

constexpr char kPlace[] = "{text}";
// In the places of a question and of an option: the state's, or a question's own text.
constexpr size_t kState = SIZE_MAX;
constexpr size_t kQuestion = SIZE_MAX;

std::vector<Token> Tokenize(const llama_vocab* vocab, const std::string& text) {
  std::vector<Token> tokens(text.size() + 1);
  const int32_t count = llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()),
                                       tokens.data(), static_cast<int32_t>(tokens.size()),
                                       /*add_special=*/false, /*parse_special=*/true);
  tokens.resize(static_cast<size_t>(std::max(0, count)));
  return tokens;
}

// Without the template's tokens.
std::vector<Token> TextOf(const TokenizedRequest& request, size_t question, size_t option,
                          const MarkerReadout& readout) {
  std::vector<Token> text;
  const auto add = [&](const std::vector<Token>& tokens, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (!readout.IsControl(tokens[i])) text.push_back(tokens[i]);
    }
  };
  if (question == kState) {
    add(request.prefix, 0, request.prefix.size());
    return text;
  }
  const TokenizedQuestion& asked = request.questions[question];
  const QuestionPieces pieces = FindPieces(asked, readout);
  if (option == kQuestion) {
    add(asked.tokens, pieces.before.begin, pieces.before.end);
    add(asked.tokens, pieces.after.begin, pieces.after.end);
  } else {
    add(asked.tokens, pieces.options[option].begin + 1, pieces.options[option].end);
  }
  return text;
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
  pass.texts = {NumberOf(kState, 0), NumberOf(pass.question, kQuestion)};
  for (size_t i = 0; i < pass.count; ++i) {
    pass.texts.push_back(NumberOf(pass.question, pass.first + i));
  }
}

void AlonePasses::AddTo(RequestPlan& plan) {
  plan.passes.insert(plan.passes.begin(), passes_.begin(), passes_.end());
  plan.counted += counted_;
  plan.kept = std::move(kept_);
}

size_t AlonePasses::NumberOf(size_t question, size_t option) {
  std::vector<Token> tokens =
      readout_.alone()->Around(TextOf(request_, question, option, readout_));
  const size_t count = tokens.size();
  if (count == 0) return kNoText;
  if (count > limit_) {
    throw EngineError("ERR_STATE_TOO_LONG", "a text alone takes " + std::to_string(count) +
                                                " tokens (the state " +
                                                std::to_string(request_.prefix.size()) +
                                                "), the limit is " + std::to_string(limit_));
  }
  const size_t number = numbers_.size();
  const auto [found, is_new] = numbers_.emplace(std::move(tokens), number);
  if (!is_new) return found->second;
  if (const std::vector<float>* vector = known_.Find(found->first)) {
    const size_t at = number * vector->size();
    kept_.resize(std::max(kept_.size(), at + vector->size()));
    std::copy(vector->begin(), vector->end(), kept_.begin() + static_cast<ptrdiff_t>(at));
    counted_ += count;
  } else {
    passes_.push_back({question, option, 0, count, {}, {number}});
  }
  return number;
}

std::vector<PassToken> AlonePasses::TokensOf(const TokenizedRequest& request, const PassPlan& pass,
                                             const MarkerReadout& readout) {
  std::vector<PassToken> tokens;
  for (const Token token :
       readout.alone()->Around(TextOf(request, pass.question, pass.first, readout))) {
    tokens.push_back({token, tokens.size(), PassToken::Role::kNone, 0});
  }
  return tokens;
}

}  // namespace oi
