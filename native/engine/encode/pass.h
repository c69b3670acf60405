// A pass through a model of hidden states: a sequence of its own, evaluated as a whole.

#pragma once

#include <cstddef>
#include <vector>

#include "../types.h"

namespace oi {

// Options [first, first + count) of a question, with what else the pass reads.
struct PassPlan {
  size_t question;
  size_t first;
  size_t count;
  size_t tokens;
  std::vector<size_t> sharers = {};  // questions that read the same and have the same answer
  // Numbers of texts that are read alone: of a pass with options, those of the state, the question
  // and each option; of a pass without, the one that it holds.
  std::vector<size_t> texts = {};
  std::vector<Token> alone = {};  // the tokens of a pass without options
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

}  // namespace oi
