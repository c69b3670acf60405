#include "passes.h"

#include <algorithm>
#include <string>

#include "../error.h"
#include "marker_readout.h"

namespace oi {
namespace {

using Range = QuestionPieces::Range;

// Sums up the tokens and positions that options need together, in order.
class Extent {
 public:
  Extent(size_t others, bool parallel) : tokens_(others), others_(others), parallel_(parallel) {}

  void Add(const Range& option) {
    tokens_ += option.size();
    longest_ = std::max(longest_, option.size());
  }
  size_t tokens() const { return tokens_; }
  size_t positions() const { return parallel_ ? others_ + longest_ : tokens_; }

 private:
  size_t tokens_;
  const size_t others_;
  size_t longest_ = 0;
  const bool parallel_;
};

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

QuestionPieces FindPieces(const TokenizedQuestion& question, const MarkerReadout& readout) {
  const std::vector<Token>& tokens = question.tokens;
  QuestionPieces pieces{};
  const auto marker = std::find(tokens.begin(), tokens.end(), readout.marker());
  size_t at = static_cast<size_t>(marker - tokens.begin());
  pieces.before = {0, at};
  while (at < tokens.size() && tokens[at] == readout.marker()) {
    const size_t begin = at++;
    while (at < tokens.size() && !readout.IsControl(tokens[at])) ++at;
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

std::vector<PassPlan> PlanPasses(const TokenizedRequest& request, size_t question,
                                 const MarkerReadout& readout, size_t limit) {
  const TokenizedQuestion& asked = request.questions[question];
  const QuestionPieces pieces = FindPieces(asked, readout);
  const size_t others = request.prefix.size() + pieces.before.size() + pieces.after.size();
  const size_t options = pieces.options.size();
  const size_t most = readout.pass_options() > 0 ? readout.pass_options() : options;
  const size_t positions = readout.positions() > 0 ? readout.positions() : SIZE_MAX;
  for (size_t passes = (options + most - 1) / most;; ++passes) {
    std::vector<PassPlan> plan;
    bool fits = true;
    for (size_t index = 0; index < passes && fits; ++index) {
      PassPlan pass = Share(question, options, index, passes);
      Extent extent(others, readout.parallel());
      for (size_t i = 0; i < pass.count; ++i) extent.Add(pieces.options[pass.first + i]);
      fits = extent.tokens() <= limit && extent.positions() <= positions;
      // Of one option, a pass has as many positions as tokens.
      if (!fits && pass.count == 1) {
        RefuseLength(request, question, extent.tokens(), std::min(limit, positions));
      }
      pass.tokens = extent.tokens();
      plan.push_back(pass);
    }
    if (fits) return plan;
  }
}

std::vector<PassToken> TokensOf(const TokenizedRequest& request, const PassPlan& pass,
                                const MarkerReadout& readout) {
  using Role = PassToken::Role;
  const TokenizedQuestion& question = request.questions[pass.question];
  const QuestionPieces pieces = FindPieces(question, readout);
  std::vector<PassToken> tokens;
  tokens.reserve(pass.tokens);
  size_t position = 0;
  const auto add = [&](Token token, Role role, size_t option) {
    const bool control = readout.IsControl(token);
    tokens.push_back({token, position++, control ? Role::kNone : role, option, false});
  };
  const auto add_state = [&] {
    for (const Token token : request.prefix) add(token, Role::kState, 0);
  };
  const auto add_question = [&](const Range& range) {
    for (size_t i = range.begin; i < range.end; ++i) add(question.tokens[i], Role::kQuestion, 0);
  };

  if (readout.state_first()) add_state();
  add_question(pieces.before);
  const size_t start = position;
  size_t end = position;
  for (size_t option = 0; option < pass.count; ++option) {
    if (readout.parallel()) position = start;
    const Range& range = pieces.options[pass.first + option];
    for (size_t i = range.begin; i < range.end; ++i) {
      add(question.tokens[i], Role::kOption, option);
      if (i == range.begin) tokens.back().role = Role::kMarker;
    }
    tokens.back().ends = true;
    end = std::max(end, position);
  }
  position = end;
  add_question(pieces.after);
  if (!readout.state_first()) add_state();
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const PassToken& a, const PassToken& b) { return a.position < b.position; });
  return tokens;
}

}  // namespace oi
