// One context over one model: evaluates many requests step by step.
//
// A step is one llama_decode. Its caller offers tasks in the order of their turn; each takes
// what room is left for the next part of its prefix and for its questions.
//
// Rules
//   1. Built, used and destroyed on one thread.
//   2. A prefix is evaluated once, and every question in a fork of it: on the unified cache a
//      fork shares the prefix' cells; only recurrent layers copy a state.
//   3. llama.cpp's assertions abort the process. Whatever a request can get wrong is checked before
//      the first call.
//   4. Deterministic: the same bits, whatever else runs. See admission.h, rule 3; step.h, rule 4;
//      cache/state_cache.h, rule 5.
//   5. What is not finite (NaN, infinity) spreads: attention multiplies what a task does not see by
//      zero, and a NaN stays one. So after such an answer all that is not proved
//      (cache/state_cache.h, rule 6) is evaluated anew, and each admitted task alone, before any
//      other. Whose answers are finite then is answered, whose are not is the cause.
//   6. Where steps have few shapes, one may be submitted while a device evaluates another. It
//      computes in order: so all but the answers goes on once a step is submitted, and cells of
//      which it is the last use are free.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "admission.h"
#include "cache/state_cache.h"
#include "clock.h"
#include "context.h"
#include "evaluator.h"
#include "logits/output_turns.h"
#include "logits/readout.h"
#include "rate.h"
#include "scoring_task.h"
#include "stats.h"
#include "step.h"
#include "types.h"

namespace oi {

class Model;
class Vision;

class Scorer final : public Evaluator {
 public:
  // Throws EngineError ERR_MODEL_MEMORY or ERR_MODEL_UNSUPPORTED. Model and projector must
  // outlive the scorer. `default_threads` is used where the options leave the number open.
  // `vision` is null for a model that reads text only. `stop` ends what is being evaluated, from
  // any thread; the scorer is of no use after it.
  Scorer(const Model& model, Vision* vision, const EngineOptions& options, uint32_t default_threads,
         const std::atomic<bool>& stop);

  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  void WarmUp() override;

  std::unique_ptr<Task> Begin(TokenizedRequest request, std::function<bool()> abandoned) override;

  // A prefix counts by what the caches held when the task was made; exactly once it is admitted.
  Work Remaining(const Task& task) const override;
  double Ms(const Work& work) const override { return rate_.Ms(work); }

  size_t TokensIn(double ms) const override;

  void StartStep(size_t tokens) override {
    stats_.capacity_tokens += tokens;
    step_.Start(tokens);
  }
  void LimitStep(size_t tokens) override { step_.Limit(tokens); }
  double vision_ms() const override { return vision_ms_; }
  size_t Take(Task& task) override;
  bool full() const override { return step_.full(); }
  // Far more if an image is in it, which takes a time that was not measured.
  double StepMs() const override { return step_.image() ? kImageMs : rate_.StepMs(step_.work()); }
  // Where it throws, a recurrent model's other tasks begin anew.
  bool Submit() override;
  // Where it throws, and where a task turns out to be not_finite() (rule 5), all tasks begin anew.
  bool Collect() override;
  bool ahead() const override { return turns_ != nullptr && !step_.image(); }

  // States that are read from the disk.
  bool AwaitRead() override { return cache_.AwaitRead(); }

  void Drop(Task& task) noexcept override;

  void Flush() override { cache_.Flush(); }

  bool invariant() const override { return context_.invariant(); }
  const ContextPlan& plan() const override { return plan_; }
  const LoggedMemory& memory() const override { return memory_; }
  ScorerStats stats() const override;

 private:
  static constexpr double kImageMs = 60'000;

  // A step that was submitted.
  struct Flight {
    Clock::time_point begun = Clock::now();
    std::vector<Readout::Asked> asked;
    const float* rows = nullptr;  // null: llama.cpp's
    Work work;
    size_t tokens = 0;
    size_t padding = 0;
    size_t read_cells = 0;
    double vision_ms = 0;
    bool lost = false;  // its tasks have begun anew
  };

  void WarmUp(size_t count);
  bool Abandoned() const;
  int32_t Decode(Flight& flight);
  int32_t DecodeImage(Flight& flight);
  void Advance();
  const float* RowsOf(const Flight& flight) const;
  void Count(const Flight& flight);
  void Reset();
  void Undo();
  void LoseFlights();

  static bool OnAbort(void* self);

  Vision* const vision_;
  const std::atomic<bool>& stop_;
  ContextPlan plan_;  // constant after WarmUp()
  const bool recurrent_;
  const bool windowed_;
  const bool on_gpu_;
  const size_t vocabulary_size_;
  double vision_ms_ = 0;     // of the step that was collected last
  bool evaluating_ = false;  // read, as step_, by the context's abort callback
  // When a device had all of this step, or the CPU began to compute.
  std::optional<Clock::time_point> submitted_;
  Context context_;
  const std::unique_ptr<CellRoom> room_;  // null but where steps have few shapes (step.h, rule 6)
  const std::unique_ptr<OutputTurns> turns_;  // null: no step ahead (rule 6)
  LoggedMemory memory_;
  Readout readout_;
  LlamaMemory sequence_memory_;
  StateCache cache_;
  Rate rate_;
  Admission admission_;
  Step step_;
  std::vector<Flight> flights_;  // the oldest first; two at most
  Clock::time_point collected_;  // when the last one was
  ScorerStats stats_;
  RecentRate recent_;
};

}  // namespace oi
