// Evaluates requests by hidden states, of an encoder or a decoder: each question takes one or more
// passes, whose hidden states are given to the model's own head.
//
// A step is one llama_encode, or of a decoder some of llama_decode: whole passes of several
// questions and requests, as sequences that do not see each other.
//
// Rules
//   1. Built, used and destroyed on one thread.
//   2. A pass is evaluated as a whole: every token of an encoder sees every other. So an empty step
//      takes a pass of any length.
//   3. llama.cpp's assertions abort the process. Whatever a request can get wrong is checked before
//      the first call.
//   4. Deterministic: each pass has a step of its own, so that what it is evaluated with depends on
//      it alone.
//   5. What is not finite (NaN, infinity) spreads: attention multiplies what a pass does not see by
//      zero, and a NaN stays one. So after such an answer the tasks of its step are evaluated anew,
//      each alone. Whose answers are finite then is answered, whose are not is the cause.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "../batch.h"
#include "../context.h"
#include "../evaluator.h"
#include "../rate.h"
#include "hidden_readout.h"

namespace oi {

class Model;

class Encoder final : public Evaluator {
 public:
  // Throws EngineError ERR_MODEL_MEMORY or ERR_MODEL_UNSUPPORTED. The model must outlive it.
  // `default_threads` is used where the options leave the number open. `stop` ends what is being
  // evaluated, from any thread; the encoder is of no use after it.
  Encoder(const Model& model, const EngineOptions& options, uint32_t default_threads,
          const std::atomic<bool>& stop);

  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  void WarmUp() override;
  std::unique_ptr<Task> Begin(TokenizedRequest request, std::function<bool()> abandoned) override;
  Work Remaining(const Task& task) const override;
  double Ms(const Work& work) const override { return rate_.Ms(work); }
  size_t TokensIn(double) const override { return plan_.step_tokens; }
  void StartStep(size_t tokens) override;
  void LimitStep(size_t tokens) override;
  size_t Take(Task& task) override;
  bool full() const override;
  double StepMs() const override { return rate_.StepMs(work_); }
  bool Submit() override;
  void Drop(Task& task) noexcept override;
  bool invariant() const override { return context_->invariant(); }
  const ContextPlan& plan() const override { return plan_; }
  const LoggedMemory& memory() const override { return context_->memory(); }
  ScorerStats stats() const override;

 private:
  struct Encoding;
  // A pass in this step.
  struct Run {
    Encoding* task;
    size_t pass;
    size_t row;  // of the batch, its first token's
    size_t tokens;
  };

  void Add(Encoding& task, size_t pass);
  bool Abandoned() const;
  int32_t Evaluate(Batch& batch);
  const float* State(size_t token) const { return states_.data() + token * width_; }
  bool ReadLogits();
  void Advance();
  void CountStep(double ms);

  static bool OnAbort(void* self);

  const Model& model_;
  const HiddenReadout& readout_;
  const EngineOptions options_;
  const std::atomic<bool>& stop_;
  const size_t vocabulary_size_;
  const size_t width_;
  ContextPlan plan_;
  std::optional<Context> context_;
  const size_t capacity_;  // tokens of a step or a pass at most
  Batch batch_;
  std::vector<float> states_;  // of the batch's tokens, as wide as each is
  std::vector<Run> runs_;
  std::vector<Encoding*> tasks_;  // of the runs, each once
  size_t size_ = 0;
  bool alone_ = false;       // rules 4 and 5: nothing else may ride with what the step has
  bool evaluating_ = false;  // read, as tasks_, by the context's abort callback
  size_t largest_ = 0;       // tokens of a step
  Work work_;
  Rate rate_;
  ScorerStats stats_;
  RecentRate recent_;
};

}  // namespace oi
