// How many tokens the next step may have.

#pragma once

#include <algorithm>
#include <cstddef>

#include "context_plan.h"

namespace oi {

// `expecting`: another workspace may be waiting for the step's end. `in_time`: tokens that a step
// of `plan.step_ms` has by prediction. `left`: of the task whose turn it is.
inline size_t StepTokens(const ContextPlan& plan, bool expecting, size_t in_time, double left) {
  const bool timed = plan.step_ms > 0;
  // A newcomer waits for the step that runs: so it is short while one may come whose turn it is.
  if (expecting) return std::min<size_t>(plan.shared_step_tokens, timed ? in_time : SIZE_MAX);
  if (timed) return in_time;
  // A task that exceeds a step by a little ends in it: the rest would be a padded step of its own.
  return left > plan.step_tokens && left <= plan.microbatch_tokens ? static_cast<size_t>(left)
                                                                   : plan.step_tokens;
}

}  // namespace oi
