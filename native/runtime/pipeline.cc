#include "pipeline.h"

#include <algorithm>
#include <utility>

#include "../engine/error.h"
#include "cpu.h"

namespace oi {
namespace {

constexpr size_t kInferenceStackBytes = 16u << 20;
// Bears std::regex over a chunk of one run of letters (engine/tokenizer.cc). Reserved, not used.
constexpr size_t kTokenizerStackBytes = 64u << 20;

double MillisecondsSince(Job::Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Job::Clock::now() - start).count();
}

// The only place where a C++ exception becomes data: none may leave a thread of ours.
template <typename Body>
void Guard(Job& job, Body body) noexcept {
  try {
    body();
  } catch (const EngineError& e) {
    job.error_code = e.code;
    job.error_message = e.what();
  } catch (const std::bad_alloc&) {
    job.error_code = "ERR_MODEL_MEMORY";
    job.error_message = "out of memory";
  } catch (const std::exception& e) {
    job.error_code = "ERR_ENGINE_INTERNAL";
    job.error_message = e.what();
  }
}

void SetAborted(Job& job) {
  job.error_code = "ERR_ABORTED";
  job.error_message = "the request was cancelled";
}

bool Counts(const Job& job) {
  return job.kind == Job::Kind::kScore || job.kind == Job::Kind::kTokenize;
}

}  // namespace

Pipeline::Pipeline(Options options, Done done, Progress progress)
    : options_(std::move(options)), done_(std::move(done)), progress_(std::move(progress)) {
  threads_.push_back(
      std::make_unique<Thread>("oi-inference", kInferenceStackBytes, [this] { InferenceMain(); }));
  for (size_t i = 0; i < options_.tokenizer_threads; ++i) {
    threads_.push_back(std::make_unique<Thread>("oi-tokenizer", kTokenizerStackBytes,
                                                [this] { TokenizerMain(); }));
  }
}

Pipeline::~Pipeline() {
  std::deque<JobPtr> dropped;  // destroyed after the lock and the threads are gone
  std::deque<JobPtr> dropped_too;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    closing_ = true;
    dropped.swap(incoming_);
    dropped_too.swap(tokenized_);
  }
  tokenizer_wake_.notify_all();
  inference_wake_.notify_all();
  threads_.clear();
}

Pipeline::Push Pipeline::TryPush(JobPtr& job) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool last = job->kind == Job::Kind::kClose;
    if (closing_) return Push::kClosing;
    if (Counts(*job)) {
      if (pending_ >= options_.max_queued) return Push::kFull;
      ++pending_;
    }
    closing_ = last;
    incoming_.push_back(std::move(job));
  }
  tokenizer_wake_.notify_one();
  return Push::kAccepted;
}

bool Pipeline::TakeWaiting(std::deque<JobPtr>& queue, uint32_t id, JobPtr& out) {
  const auto it = std::find_if(queue.begin(), queue.end(),
                               [id](const JobPtr& job) { return job->id == id && Counts(*job); });
  if (it == queue.end()) return false;
  out = std::move(*it);
  queue.erase(it);
  return true;
}

void Pipeline::Cancel(uint32_t id) {
  JobPtr waiting;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!TakeWaiting(incoming_, id, waiting) && !TakeWaiting(tokenized_, id, waiting)) {
      for (Job* job : running_) {
        if (job->id == id) job->cancelled = true;
      }
      return;
    }
  }
  SetAborted(*waiting);
  Finish(std::move(waiting));
}

void Pipeline::Finish(JobPtr job) {
  if (Counts(*job)) {
    std::lock_guard<std::mutex> lock(mutex_);
    --pending_;
  }
  done_(std::move(job));
}

void Pipeline::TokenizerMain() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    tokenizer_wake_.wait(lock, [this] { return stop_ || tokenizers_done_ || !incoming_.empty(); });
    if (stop_ || tokenizers_done_) return;
    // A close goes on only when no other job is between the queues. Whoever ends the last of
    // those wakes the others.
    if (incoming_.front()->kind == Job::Kind::kClose && tokenizing_ > 0) {
      tokenizer_wake_.wait(lock, [this] { return stop_ || tokenizers_done_ || tokenizing_ == 0; });
      continue;
    }
    JobPtr job = std::move(incoming_.front());
    incoming_.pop_front();
    Job* const running = job.get();
    ++tokenizing_;
    running_.push_back(running);
    lock.unlock();

    Guard(*job, [&] { Tokenize(*job); });

    lock.lock();
    std::erase(running_, running);
    const bool close = job->kind == Job::Kind::kClose;
    const bool done = !close && (job->kind == Job::Kind::kTokenize || job->error_code != nullptr);
    if (!done && !stop_) {
      tokenized_.push_back(std::move(job));
      inference_wake_.notify_one();
    }
    --tokenizing_;
    if (close) tokenizers_done_ = true;
    if (tokenizing_ == 0) tokenizer_wake_.notify_all();
    if (done) {
      lock.unlock();
      Finish(std::move(job));
      lock.lock();
    }
  }
}

void Pipeline::Tokenize(Job& job) {
  if (!Counts(job)) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!opened_) throw EngineError("ERR_ENGINE_NOT_OPEN", "open() has not succeeded");
  }
  if (job.cancelled) return SetAborted(job);
  const auto start = Job::Clock::now();
  if (job.kind == Job::Kind::kScore) {
    job.tokenized = tokenizer_->Request(std::move(job.request));
  } else {
    for (TextPart& text : job.texts) {
      std::vector<Token> tokens = tokenizer_->Parts({std::move(text)});
      if (job.count_only) {
        job.counts.push_back(static_cast<uint32_t>(tokens.size()));
      } else {
        job.tokens.push_back(std::move(tokens));
      }
    }
  }
  job.tokenize_ms = MillisecondsSince(start);
}

void Pipeline::InferenceMain() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    inference_wake_.wait(lock, [this] { return stop_ || !tokenized_.empty(); });
    if (stop_) break;
    JobPtr job = std::move(tokenized_.front());
    tokenized_.pop_front();
    Job* const running = job.get();
    running_.push_back(running);
    lock.unlock();

    const auto start = Job::Clock::now();
    Guard(*job, [&] { Infer(*job); });
    job->model_ms = MillisecondsSince(start);
    job->queue_ms =
        std::max(0.0, MillisecondsSince(job->accepted) - job->model_ms - job->tokenize_ms);

    lock.lock();
    std::erase(running_, running);
    lock.unlock();
    const bool close = job->kind == Job::Kind::kClose;
    Finish(std::move(job));
    if (close) return;
    lock.lock();
  }
  lock.unlock();
  // Torn down without a close: the tokenizers may still read the vocabulary, so the model
  // outlives them (members are destroyed after threads_), but the context is ours alone.
  scorer_.reset();
}

void Pipeline::Infer(Job& job) {
  switch (job.kind) {
    case Job::Kind::kOpen:
      return Open(job);
    case Job::Kind::kScore: {
      if (!scorer_) throw EngineError("ERR_ENGINE_NOT_OPEN", "opened for its metadata only");
      const auto cancelled = [&] {
        return stop_.load(std::memory_order_relaxed) ||
               job.cancelled.load(std::memory_order_relaxed);
      };
      job.result = scorer_->Score(job.tokenized, cancelled);
      return;
    }
    case Job::Kind::kClose:
      scorer_.reset();
      tokenizer_.reset();
      model_.reset();
      return;
    case Job::Kind::kTokenize:
      return;
  }
}

void Pipeline::Open(Job& job) {
  if (model_) throw EngineError("ERR_INVALID_ARGUMENT", "open() was called before");
  auto model = Model::Load(options_.engine, stop_, progress_);
  auto tokenizer = std::make_unique<Tokenizer>(*model);
  job.facts = model->Facts();
  for (Token token = 0; token < job.facts.vocabulary_size; ++token) {
    job.facts.ordinary.push_back(tokenizer->Ordinary(token));
  }
  std::unique_ptr<Scorer> scorer;
  if (!options_.engine.metadata_only) {
    scorer = std::make_unique<Scorer>(*model, options_.engine, AvailableCores());
    scorer->WarmUp();
  }
  const ContextPlan plan =
      scorer ? scorer->plan() : PlanContext(*model, options_.engine, AvailableCores());
  job.facts.context_tokens = plan.context_tokens;
  job.facts.context_bytes = plan.context_bytes;
  job.facts.max_forks = plan.max_forks;
  job.facts.threads = plan.threads;
  model_ = std::move(model);
  tokenizer_ = std::move(tokenizer);
  scorer_ = std::move(scorer);
  std::lock_guard<std::mutex> lock(mutex_);
  opened_ = true;
}

}  // namespace oi
