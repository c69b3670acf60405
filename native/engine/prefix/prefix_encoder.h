// Evaluates requests of `prefix@1`: an encoder that is read in parts (src/prompt/hidden/README.md).
//
// A step is one pass through the network (forward.h), for parts of many questions and requests: a
// state, questions behind it, and options behind these. A part is evaluated as a whole, and sees
// what is before it in the same step, or kept cells.
//
// Rules
//   1. Built, used and destroyed on one thread.
//   2. A state is evaluated once, for all questions of all requests that have it at the time, and
//      its cells are kept (kept_cells.h) in the tiers of a decoder's (../cache/state_cache.h), as a
//      whole. A question is evaluated with its options: again, if they take several steps.
//   3. An empty step takes a part of any length, as every token of a part sees every other.
//   4. Deterministic: nothing is to be done where a part's bits depend on it alone (forward.h).
//      Elsewhere a state has a step of its own, and so has a question.
//   5. What is not finite (NaN, infinity): the tasks of the step are evaluated anew, each alone,
//      with nothing that is not proved. Whose answers are finite then is answered, whose are not is
//      the cause.
//   6. An admitted task needs no more cells than its state has. One that finds no room, turn after
//      turn, is next: nobody is admitted before it.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "../cache/state_cache.h"
#include "../evaluator.h"
#include "../rate.h"
#include "forward.h"
#include "kept_cells.h"
#include "prefix_readout.h"

namespace oi {

class Model;

class PrefixEncoder final : public Evaluator {
 public:
  // Throws EngineError ERR_MODEL_MEMORY or ERR_MODEL_UNSUPPORTED. The model must outlive it.
  // `default_threads` is used where the options leave the number open. `stop` ends what is being
  // evaluated, from any thread; the encoder is of no use after it.
  PrefixEncoder(const Model& model, const EngineOptions& options, uint32_t default_threads,
                const std::atomic<bool>& stop);

  PrefixEncoder(const PrefixEncoder&) = delete;
  PrefixEncoder& operator=(const PrefixEncoder&) = delete;

  void WarmUp() override;
  std::unique_ptr<Task> Begin(TokenizedRequest request, std::function<bool()> abandoned) override;
  Work Remaining(const Task& task) const override;
  double Ms(const Work& work) const override { return rate_.Ms(work); }
  size_t TokensIn(double) const override { return plan_.step_tokens; }
  void StartStep(size_t tokens) override;
  void LimitStep(size_t tokens) override;
  size_t Take(Task& task) override;
  bool full() const override { return alone_ || step_.tokens.size() >= size_; }
  double StepMs() const override { return rate_.StepMs(work_); }
  bool Submit() override;
  bool AwaitRead() override { return cache_.AwaitRead(); }
  void Drop(Task& task) noexcept override;
  void Flush() override { cache_.Flush(); }
  bool invariant() const override { return forward_->invariant(); }
  const ContextPlan& plan() const override { return plan_; }
  const LoggedMemory& memory() const override { return memory_; }
  ScorerStats stats() const override;

 private:
  struct Reading;
  // A state that is evaluated in this step.
  struct NewState {
    Prefix* prefix;
    Reading* task;  // on whose behalf
    size_t part;    // of the step
  };
  // Where a logit is read.
  struct Output {
    Reading* task;
    size_t item;
    size_t logit;  // of the question's
    size_t row;    // of the step
  };

  bool Admit(Reading& task);
  bool AddState(Reading& task);
  size_t AddQuestions(Reading& task);
  void AddPart(const Token* tokens, size_t count, size_t position, size_t level,
               const kernels::SeenCells (&before)[2], const ForwardStep::Kept& kept);
  bool Abandoned() const;
  void Undo();
  bool ReadLogits();
  void Advance();
  void Isolate();
  void Release(Reading& task);

  const Model& model_;
  const PrefixReadout& readout_;
  const EngineOptions options_;
  const std::atomic<bool>& stop_;
  const size_t vocabulary_size_;
  const ContextPlan plan_;
  const size_t limit_;  // tokens of a state with a question and its longest part
  const std::unique_ptr<Forward> forward_;
  const bool separate_;  // rule 4
  KeptMemory kept_;
  StateCache cache_;
  LoggedMemory memory_;

  ForwardStep step_;
  std::vector<NewState> new_states_;
  std::vector<Output> outputs_;
  std::vector<Reading*> tasks_;  // of the step
  size_t size_ = 0;
  bool alone_ = false;       // rules 4 and 5: nothing else may ride with what the step has
  bool evaluating_ = false;  // asked, as tasks_, inside a step
  Work work_;

  std::unordered_set<Reading*> active_;  // that have a prefix
  size_t suspects_ = 0;
  Reading* next_in_ = nullptr;  // rule 6
  Rate rate_;
  ScorerStats stats_;
  RecentRate recent_;
};

}  // namespace oi
