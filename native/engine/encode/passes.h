// A question of `markers@1` as passes through an encoder: which of its tokens stand where.

#pragma once

#include <cstddef>
#include <vector>

#include "../types.h"
#include "pass.h"

namespace oi {

class MarkerReadout;

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

// Throws EngineError ERR_INVALID_ARGUMENT if there are not as many markers as candidates.
QuestionPieces FindPieces(const TokenizedQuestion& question, const MarkerReadout& readout);

// In as few passes of at most `limit` tokens as hold the options, in order and as evenly as can be.
// Throws EngineError ERR_STATE_TOO_LONG with the numbers.
std::vector<PassPlan> PlanPasses(const TokenizedRequest& request, size_t question,
                                 const MarkerReadout& readout, size_t limit);

// The tokens of a pass by their positions, which llama.cpp wants in order: those of options that
// stand beside each other take turns.
std::vector<PassToken> TokensOf(const TokenizedRequest& request, const PassPlan& pass,
                                const MarkerReadout& readout);

}  // namespace oi
