// One request on its way through an evaluator, as the runtime sees it.

#pragma once

#include <functional>
#include <utility>

#include "types.h"

namespace oi {

class Task {
 public:
  Task(TokenizedRequest request, std::function<bool()> abandoned)
      : request(std::move(request)), abandoned(std::move(abandoned)) {
    result.prefix_tokens = this->request.prefix.size();
    for (const TokenizedQuestion& question : this->request.questions) {
      if (question.counted) result.suffix_tokens += question.tokens.size();
    }
  }
  virtual ~Task() = default;

  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const TokenizedRequest request;
  ScoreResult result;  // whole once done()
  // True once nobody waits for it any more. Asked on the inference thread, also inside a step.
  const std::function<bool()> abandoned;

  virtual bool done() const = 0;

  // An answer was not finite, its own or that of another task beside it: it is evaluated again,
  // alone.
  bool suspect() const { return suspect_; }
  // Nor was it when the task was alone: it has no answer, and must be dropped.
  bool not_finite() const { return not_finite_; }

  void Suspect() {
    suspect_ = true;
    not_finite_ = false;
  }
  void SetNotFinite() { not_finite_ = true; }

 private:
  bool suspect_ = false;
  bool not_finite_ = false;
};

}  // namespace oi
