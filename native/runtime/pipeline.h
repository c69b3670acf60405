// One model, two stages: tokenizer threads, then the inference thread.
//
// llama_context must not be used from two threads at once, and a decode is long enough to
// starve libuv's pool (four threads, shared with fs and dns), so a model has threads of its
// own. Tokenizing has others, so that it neither delays a decode nor blocks JavaScript.
//
// Opening, scoring, tokenizing and closing are jobs. Before the tokenizers, workspaces take turns
// (intake.h); behind them, scoring jobs are evaluated together (inference.h). A close waits for
// everything that was accepted before it.
//
// Rules
//   1. Model and context are built, used and (by a close) destroyed on the inference thread.
//      Others read the vocabulary only, and hold the model while they do.
//   2. A job has one owner at a time. TryPush() takes it; `done` gives it back, once, on the
//      thread that finished it. Destroying the pipeline drops what is not done.
//   3. What is accepted and not yet done is bounded (backlog.h), opening and closing aside.
//   4. Without memory, a job is refused, or ends with ERR_MODEL_MEMORY: no exception leaves a
//   thread
//      of ours. What is accepted is then carried on, and leaves, without allocating anything.
//   5. No napi.h in this folder. These threads must not be able to name a JS value.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "../engine/input/tokenizer.h"
#include "../engine/input/vision.h"
#include "../engine/model.h"
#include "counters.h"
#include "inference.h"
#include "intake.h"
#include "job.h"
#include "thread.h"

namespace oi {

class Pipeline {
 public:
  using JobPtr = std::unique_ptr<Job>;
  using Done = std::function<void(JobPtr)>;  // must not throw
  using Progress = std::function<void(float)>;

  struct Options {
    EngineOptions engine;
    size_t max_queued;
    double max_backlog_ms;
    size_t tokenizer_threads;
  };

  // Throws EngineError ERR_ENGINE_INTERNAL if the system gives no threads.
  Pipeline(Options options, Done done, Progress progress);
  // Cancels what runs, drops what waits, joins. Returns at once when a close has run.
  ~Pipeline();

  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  enum class Push { kAccepted, kFull, kClosing };

  // Takes the job only when it answers kAccepted. A close is never refused as full, and
  // everything after it is kClosing: no job can be left behind. With kFull, `refusal` says why.
  //
  // `tokenize`: the caller has time and stack for a short text. It tokenizes such a job itself, if
  // none is before it, which then waits for one thread less.
  Push TryPush(JobPtr& job, Refusal& refusal, bool tokenize = false);

  // Ends the job as ERR_ABORTED: at once if it waits for the tokenizer, at its next step else.
  // A job that is done already is left alone.
  void Cancel(uint32_t id);

  // Tokens of a short text, on the calling thread; nothing if the text is too long for that or
  // the model is not open.
  std::optional<size_t> CountNow(const std::string& text);

  EngineStats stats() const { return counters_.stats(); }

  // See StepWatch.
  bool Hangs(double least_step_ms) const { return inference_.watch().Hangs(least_step_ms); }

 private:
  // A model and its vocabulary, for as long as somebody reads in them.
  struct Vocabulary {
    std::shared_ptr<const Model> model;
    std::shared_ptr<Vision> vision;  // null for a model that reads text only
    std::shared_ptr<const Tokenizer> tokenizer;
    size_t limit = 0;  // of a request's tokens, for the tokenizer
  };

  void Stop();
  void TokenizerMain();
  // Without memory for that, Cancel() does not find the job, and it runs to its end.
  void NoteRunning(Job& job) noexcept {
    try {
      running_.push_back(&job);
    } catch (const std::bad_alloc&) {
    }
  }
  void FirstStage(std::unique_lock<std::mutex>& lock, JobPtr job);
  void Tokenize(Job& job);
  void InferenceMain();
  void Open(Job& job);
  void Close();
  void Finish(JobPtr job);
  Vocabulary GetVocabulary() {
    std::lock_guard<std::mutex> lock(mutex_);
    return vocabulary_;
  }

  const Options options_;
  const Done done_;
  const Progress progress_;

  std::atomic<bool> stop_{false};
  Counters counters_;
  Inference inference_;  // on the inference thread

  std::mutex mutex_;
  std::condition_variable tokenizer_wake_;
  std::condition_variable inference_wake_;
  Vocabulary vocabulary_;          // guarded by mutex_: null unless open
  Intake incoming_;                // guarded by mutex_
  std::vector<JobPtr> tokenized_;  // guarded by mutex_
  JobPtr close_;                   // guarded by mutex_: behind all that is tokenized
  std::vector<Job*> running_;      // guarded by mutex_: taken from a queue, not yet finished
  size_t tokenizing_ = 0;          // guarded by mutex_: jobs between the two queues
  bool closing_ = false;           // guarded by mutex_
  bool tokenizers_done_ = false;   // guarded by mutex_: the close has passed the first stage

  std::vector<std::unique_ptr<Thread>> threads_;  // last: they use every member above
};

}  // namespace oi
