// The second stage of a pipeline: takes what is tokenized, evaluates all of it together, step by
// step, in the scheduler's order.
//
// Lives on one thread, with the evaluator; `finished` is called there.
//
// A job that leaves allocates nothing: what a lack of memory has ended can leave, too.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../engine/evaluator.h"
#include "../engine/input/vision.h"
#include "../engine/model.h"
#include "counters.h"
#include "job.h"
#include "scheduler.h"
#include "step_watch.h"

namespace oi {

class Inference {
 public:
  using JobPtr = std::unique_ptr<Job>;
  using Finished = std::function<void(JobPtr)>;  // must not throw

  // `stop` ends a step that runs; `overdue_ms` is the scheduler's.
  Inference(Counters& counters, double overdue_ms, const std::atomic<bool>& stop, Finished finished)
      : counters_(counters),
        overdue_ms_(overdue_ms),
        stop_(stop),
        finished_(std::move(finished)),
        scheduler_(0, overdue_ms) {
    flights_.reserve(2);
  }

  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  // Makes the evaluator, unless only metadata are wanted, and completes the facts. Throws
  // EngineError ERR_MODEL_MEMORY or ERR_MODEL_UNSUPPORTED.
  void Open(const Model& model, Vision* vision, const EngineOptions& options, ModelFacts& facts);

  // Takes a scoring job.
  void Add(JobPtr job);
  bool idle() const { return live_.empty(); }
  // When Step() is to be called: at once, or when most of the step that a device evaluates is done.
  // What is added until then can be in the next one.
  Clock::time_point due() {
    return !flights_.empty() && Saturated() ? next_due_ : Clock::time_point{};
  }
  // One step for all jobs. Not when idle.
  void Step();

  // Asked on any thread.
  const StepWatch& watch() const { return watch_; }

  // Saves what a later process can use, and frees the context. When idle.
  void Close();
  // Frees the context at once; what is live is dropped with this object.
  void Stop() { evaluator_.reset(); }

 private:
  // A step that was submitted, or failed to be.
  struct Flight {
    std::vector<Job*> jobs;
    bool submitted = false;
    const char* error_code = nullptr;
    std::string error_message;
    Clock::time_point begun;
    double expected_ms = 0;  // predicted
  };

  void DropAbandoned();
  bool Submit();
  bool Collect();
  bool Saturated();
  void Expect(const Flight& flight);
  void Watch(double more_ms);
  void NoteLeft(Job* job);
  void Pick(std::vector<Job*>& step);
  size_t StepTokens();
  void Release(Job* job) noexcept;
  void Finish(Job* job) noexcept;
  void End(Job* job) noexcept;

  Counters& counters_;
  const double overdue_ms_;
  const std::atomic<bool>& stop_;
  const Finished finished_;
  StepWatch watch_;
  std::unique_ptr<Evaluator> evaluator_;
  Scheduler scheduler_;
  std::vector<JobPtr> live_;
  std::vector<Flight> flights_;  // the oldest first; two at most
  Clock::time_point collected_;  // when the last one was
  // Of the one that was submitted last, as far as is known.
  Clock::time_point next_due_;
  Clock::time_point expected_end_;
};

}  // namespace oi
