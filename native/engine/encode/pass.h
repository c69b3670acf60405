// A pass through a model of hidden states: a sequence of its own, evaluated as a whole.

#pragma once

#include <cstddef>
#include <vector>

namespace oi {

// Options [first, first + count) of a question.
struct PassPlan {
  size_t question;
  size_t first;
  size_t count;
  size_t tokens;
  std::vector<size_t> sharers = {};  // questions that read the same and have the same answer
};

}  // namespace oi
