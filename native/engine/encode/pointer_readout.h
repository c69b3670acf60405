// `pointer@1`: the options of a question stand in one pass of a decoder, each behind a marker, and
// the pass' last token points to one of them.

#pragma once

#include <string>
#include <vector>

#include "hidden_readout.h"
#include "pointer_head.h"

namespace oi {

class GgufFile;

class PointerReadout final : public HiddenReadout {
 public:
  // Throws as HiddenReadout::Read().
  PointerReadout(const GgufFile& file, const llama_model* model);

  // In as few passes as hold the options, in order and as evenly as can be.
  std::vector<PassPlan> Plan(const TokenizedRequest& request, size_t limit) const override;
  std::vector<Token> TokensOf(const TokenizedRequest& request, const PassPlan& pass) const override;
  bool Answer(const PassPlan& pass, const PassStates& states, Answering& task) const override;

 private:
  // The parts of a question's tokens: text and markers, without the state.
  struct Pieces {
    struct Range {
      size_t begin;
      size_t end;
      size_t size() const { return end - begin; }
    };
    Range before;                // of the options
    std::vector<Range> options;  // each from its marker on
    Range after;
  };

  // Throws EngineError ERR_INVALID_ARGUMENT if there are not as many markers as candidates.
  Pieces FindPieces(const TokenizedQuestion& question) const;
  // Of one question, with at most `most` tokens each.
  std::vector<PassPlan> PlanQuestion(const TokenizedRequest& request, size_t question,
                                     size_t most) const;

  const PointerHead head_;
  Token marker_ = 0;
  std::vector<bool> control_;  // of a template, and never of a caller's text
  bool state_first_ = false;
  size_t pass_options_ = 0;  // 0: as many as fit
};

}  // namespace oi
