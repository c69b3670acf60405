// One model, two stages: tokenizer threads, then the inference thread.
//
// llama_context must not be used from two threads at once, and a decode is long enough to
// starve libuv's pool (four threads, shared with fs and dns), so a model has threads of its
// own. Tokenizing has others, so that it neither delays a decode nor blocks JavaScript.
//
// Opening, scoring, tokenizing and closing are jobs in the same FIFO queue. That order is the
// whole protocol: a close runs after everything accepted before it, so nothing here needs a
// state machine. With several tokenizer threads, jobs may overtake each other between the
// stages; a close waits for all of them.
//
// Rules
//   1. Model and Scorer are built, used and (by a close) destroyed on the inference thread;
//   tokenizer
//      threads only read the vocabulary, between the end of open and the start of close.
//   2. A job has one owner at a time. TryPush() takes it; `done` gives it back, once, on the
//      thread that finished it. Destroying the pipeline drops queued jobs.
//   3. The queue is bounded: jobs accepted and not yet done, opening and closing not counted.
//   4. No napi.h in this folder. These threads must not be able to name a JS value.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "../engine/model.h"
#include "../engine/scorer.h"
#include "../engine/tokenizer.h"
#include "job.h"
#include "thread.h"

namespace oi {

class Pipeline {
 public:
  using JobPtr = std::unique_ptr<Job>;
  using Done = std::function<void(JobPtr)>;
  using Progress = std::function<void(float)>;

  struct Options {
    EngineOptions engine;
    size_t max_queued;
    size_t tokenizer_threads;
  };

  Pipeline(Options options, Done done, Progress progress);
  // Cancels what runs, drops what waits, joins. Returns at once when a close has run.
  ~Pipeline();

  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  enum class Push { kAccepted, kFull, kClosing };

  // Takes the job only when it answers kAccepted. A close is never refused as full, and
  // everything after it is kClosing: no job can be left behind.
  Push TryPush(JobPtr& job);

  // Ends the job as ERR_ABORTED: at once if it waits, at its next step if it runs. A job that
  // is done already is left alone.
  void Cancel(uint32_t id);

 private:
  void TokenizerMain();
  void InferenceMain();
  void Tokenize(Job& job);
  void Infer(Job& job);
  void Open(Job& job);
  void Finish(JobPtr job);
  bool TakeWaiting(std::deque<JobPtr>& queue, uint32_t id, JobPtr& out);

  const Options options_;
  const Done done_;
  const Progress progress_;

  // Inference thread only, but for tokenizer_ between open and close (rule 1).
  std::unique_ptr<Model> model_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<Scorer> scorer_;

  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable tokenizer_wake_;
  std::condition_variable inference_wake_;
  std::deque<JobPtr> incoming_;   // guarded by mutex_
  std::deque<JobPtr> tokenized_;  // guarded by mutex_
  std::vector<Job*> running_;     // guarded by mutex_; owned by the thread that runs it
  size_t tokenizing_ = 0;         // guarded by mutex_: jobs between the two queues
  size_t pending_ = 0;            // guarded by mutex_: rule 3
  bool opened_ = false;           // guarded by mutex_: tokenizer_ may be read
  bool closing_ = false;          // guarded by mutex_
  bool tokenizers_done_ = false;  // guarded by mutex_: the close has passed the first stage

  std::vector<std::unique_ptr<Thread>> threads_;  // last: they use every member above
};

}  // namespace oi
