// A question of `markers@1` as passes through an encoder: which of its tokens stand where.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../types.h"
#include "hidden_readout.h"

namespace oi {

// The parts of a question's tokens: text and markers, without the state.
struct QuestionPieces {
  struct Range {
    size_t begin;
    size_t end;
    size_t size() const { return end - begin; }
  };
  Range before;                // of the options
  std::vector<Range> options;  // each from its marker on
  Range after;
};

// Options [first, first + count) of a question, with the question and the state.
struct PassPlan {
  size_t question;
  size_t first;
  size_t count;
  size_t tokens;
};

// A token in its place.
struct PassToken {
  enum class Role { kNone, kState, kQuestion, kMarker, kOption };
  Token token;
  size_t position;
  Role role;
  size_t option;      // of the pass; of a marker or an option's text
  bool ends = false;  // the option's last token
};

// Throws EngineError ERR_INVALID_ARGUMENT if there are not as many markers as candidates.
QuestionPieces FindPieces(const TokenizedQuestion& question, const HiddenReadout& readout);

// In as few passes of at most `limit` tokens as hold the options, in order and as evenly as can be.
// Throws EngineError ERR_STATE_TOO_LONG with the numbers.
std::vector<PassPlan> PlanPasses(const TokenizedRequest& request, size_t question,
                                 const HiddenReadout& readout, size_t limit);

// The tokens of a pass by their positions, which llama.cpp wants in order: those of options that
// stand beside each other take turns.
std::vector<PassToken> TokensOf(const TokenizedRequest& request, const PassPlan& pass,
                                const HiddenReadout& readout);

}  // namespace oi
