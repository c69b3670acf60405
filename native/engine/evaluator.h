// The runtime's view of what evaluates requests step by step: a scorer, which reads a decoder's
// logits (scorer.h), or an encoder, which reads hidden states (encode/encoder.h).
//
// A step is one call of llama.cpp. Its caller offers tasks in the order of their turn; each takes
// what room is left.

#pragma once

#include <functional>
#include <memory>

#include "log.h"
#include "plan/context_plan.h"
#include "rate.h"
#include "stats.h"
#include "task.h"
#include "types.h"

namespace oi {

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Evaluates a few tokens, so that the first request finds weights and buffers in place.
  virtual void WarmUp() = 0;

  // Throws EngineError: ERR_STATE_TOO_LONG, ERR_INVALID_ARGUMENT (a token outside the
  // vocabulary, a question without tokens), ERR_REQUEST_UNACCEPTABLE (too large an image).
  virtual std::unique_ptr<Task> Begin(TokenizedRequest request,
                                      std::function<bool()> abandoned) = 0;

  // The work that is left of the task.
  virtual Work Remaining(const Task& task) const = 0;
  // The time that the work takes, predicted by the steps so far; milliseconds.
  virtual double Ms(const Work& work) const = 0;

  // Tokens of a step that is predicted to take `ms`.
  virtual size_t TokensIn(double ms) const = 0;

  // A step of at most `tokens`.
  virtual void StartStep(size_t tokens) = 0;
  // A step of no more than it has, or than `tokens`.
  virtual void LimitStep(size_t tokens) = 0;
  // Milliseconds of the step that was collected last that encoding an image took.
  virtual double vision_ms() const { return 0; }
  // Adds the task's next tokens; returns how many. 0: no room, or nothing to add in this step.
  // At most once per task and step.
  virtual size_t Take(Task& task) = 0;
  virtual bool full() const = 0;
  // The predicted time of the step, milliseconds.
  virtual double StepMs() const = 0;
  // Evaluates the step, or has a device begin with it. False if it was not, because every task in
  // it was abandoned: then nothing has changed. Throws what evaluating throws, EngineError
  // ERR_ENGINE_INTERNAL if llama.cpp refuses: the step's tasks are lost then and must be dropped.
  virtual bool Submit() = 0;
  // Waits for the oldest step that was submitted, once for each. Its tasks may have answers then,
  // and may be dropped; one that turns out to be not_finite() must be. False if all are evaluated
  // anew instead. Throws what Submit() throws.
  virtual bool Collect() { return true; }
  // Whether the step that was submitted last may be still evaluated, and another one submitted
  // before it is collected.
  virtual bool ahead() const { return false; }

  // Waits a moment for other threads' work that tasks depend on. False if there is none: then a
  // step to which no task could add anything is a fault.
  virtual bool AwaitRead() { return false; }

  // Forgets a task, done or not. Each one that was begun must come back here, once. Allocates
  // nothing.
  virtual void Drop(Task& task) noexcept = 0;

  // Saves states for a later process.
  virtual void Flush() {}

  // Whether an answer has the same bits in any company, whatever the options. Behind WarmUp().
  virtual bool invariant() const = 0;

  virtual const ContextPlan& plan() const = 0;
  // The memory of its cells and buffers, as llama.cpp logged it.
  virtual const LoggedMemory& memory() const = 0;
  virtual ScorerStats stats() const = 0;
};

}  // namespace oi
