#include "pipeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "../engine/encode/hidden_readout.h"
#include "../engine/error.h"
#include "../engine/plan/load_plan.h"
#include "../engine/plan/placement.h"
#include "../engine/prefix/prefix_readout.h"
#include "../machine/cores.h"
#include "guard.h"

namespace oi {
namespace {

constexpr size_t kInferenceStackBytes = 16u << 20;
// Bears std::regex over a chunk of one run of letters (input/tokenizer.cc). Reserved, not used.
constexpr size_t kTokenizerStackBytes = 64u << 20;
// Recursion that any thread's stack bears: those of Node's workers have 4 MiB.
constexpr size_t kCountNowBytes = 512;
// Bytes that TryPush() tokenizes on the caller's thread: a fraction of a millisecond, and an eighth
// of what a tokenizer's stack bears.
constexpr size_t kAtOnceBytes = 2048;
constexpr double kNoMemoryRetryMs = 1000;

// A request is overdue once it has waited half of the longest backlog (scheduler.h).
double OverdueMs(const Pipeline::Options& options) { return options.max_backlog_ms / 2; }

bool Counts(const Job& job) {
  return job.kind == Job::Kind::kScore || job.kind == Job::Kind::kTokenize;
}

// Tokens that a state or a question may have: those of a pass, or of a context.
size_t LongestText(const Model& model, const ModelFacts& facts) {
  size_t positions = 0;
  if (model.hidden() != nullptr) positions = model.hidden()->positions();
  if (model.prefix() != nullptr) positions = model.prefix()->positions();
  return positions > 0 ? std::min<size_t>(positions, facts.context_tokens) : facts.context_tokens;
}

std::unique_ptr<Job> TakeFrom(std::vector<std::unique_ptr<Job>>& queue, uint32_t id) {
  const auto it = std::find_if(queue.begin(), queue.end(), [id](const std::unique_ptr<Job>& job) {
    return job->id == id && Counts(*job);
  });
  if (it == queue.end()) return nullptr;
  std::unique_ptr<Job> job = std::move(*it);
  queue.erase(it);
  return job;
}

}  // namespace

Pipeline::Pipeline(Options options, Done done, Progress progress)
    : options_(std::move(options)),
      done_(std::move(done)),
      progress_(std::move(progress)),
      counters_(options_.max_queued, options_.max_backlog_ms, OverdueMs(options_)),
      inference_(counters_, OverdueMs(options_), stop_,
                 [this](JobPtr job) { Finish(std::move(job)); }) {
  try {
    threads_.push_back(std::make_unique<Thread>("oi-inference", kInferenceStackBytes,
                                                [this] { InferenceMain(); }));
    for (size_t i = 0; i < options_.tokenizer_threads; ++i) {
      threads_.push_back(std::make_unique<Thread>("oi-tokenizer", kTokenizerStackBytes,
                                                  [this] { TokenizerMain(); }));
    }
  } catch (...) {
    Stop();  // those that run would be joined while they wait for work
    throw;
  }
}

Pipeline::~Pipeline() { Stop(); }

void Pipeline::Stop() {
  Intake dropped;  // destroyed after the lock and the threads are gone
  std::vector<JobPtr> dropped_too;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    closing_ = true;
    std::swap(dropped, incoming_);
    dropped_too.swap(tokenized_);
  }
  tokenizer_wake_.notify_all();
  inference_wake_.notify_all();
  threads_.clear();
}

Pipeline::Push Pipeline::TryPush(JobPtr& job, Refusal& refusal, bool tokenize) {
  job->text_bytes = TextBytes(*job);
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (closing_) return Push::kClosing;
    const bool at_once = tokenize && job->kind == Job::Kind::kScore &&
                         job->text_bytes <= kAtOnceBytes && incoming_.empty() && tokenizing_ == 0;
    const bool last = job->kind == Job::Kind::kClose;
    try {
      if (Counts(*job)) {
        if (auto full = counters_.Enter(*job)) {
          refusal = std::move(*full);
          return Push::kFull;
        }
      }
      if (!at_once) incoming_.Push(job);
    } catch (const std::bad_alloc&) {
      counters_.Forget(*job);
      refusal = {kNoMemoryRetryMs, "out of memory"};
      return Push::kFull;
    }
    closing_ = last;
    if (at_once) {
      FirstStage(lock, std::move(job));
      return Push::kAccepted;
    }
  }
  tokenizer_wake_.notify_one();
  return Push::kAccepted;
}

void Pipeline::Cancel(uint32_t id) {
  JobPtr waiting;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting = incoming_.Take(id);
    if (!waiting) waiting = TakeFrom(tokenized_, id);
    if (!waiting) {
      for (Job* job : running_) {
        if (job->id != id) continue;
        job->cancelled = true;
        if (Counts(*job)) counters_.Forget(*job);
      }
      return;
    }
  }
  waiting->cancelled = true;
  waiting->EndIfAbandoned();
  Finish(std::move(waiting));
}

// Gives a job of either stage back.
void Pipeline::Finish(JobPtr job) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase(running_, job.get());
  }
  if (Counts(*job)) counters_.Leave(*job);
  done_(std::move(job));
}

std::optional<size_t> Pipeline::CountNow(const std::string& text) {
  if (text.size() > kCountNowBytes) return std::nullopt;
  const Vocabulary vocabulary = GetVocabulary();
  if (!vocabulary.tokenizer) return std::nullopt;
  return vocabulary.tokenizer->Parts({{text, false, nullptr}}).size();
}

// ---- first stage -----------------------------------------------------------------

void Pipeline::TokenizerMain() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    tokenizer_wake_.wait(lock, [this] { return stop_ || tokenizers_done_ || !incoming_.empty(); });
    if (stop_ || tokenizers_done_) return;
    // A close goes on only when no other job is between the queues. Whoever ends the last of
    // those wakes the others.
    if (incoming_.drained() && tokenizing_ > 0) {
      tokenizer_wake_.wait(lock, [this] { return stop_ || tokenizers_done_ || tokenizing_ == 0; });
      continue;
    }
    JobPtr job = incoming_.Next();
    FirstStage(lock, job ? std::move(job) : incoming_.Close());
  }
}

// A job of no queue, until it is in the next one, or done. The lock is held before and after.
void Pipeline::FirstStage(std::unique_lock<std::mutex>& lock, JobPtr job) {
  Job* const running = job.get();
  ++tokenizing_;
  NoteRunning(*running);
  lock.unlock();
  Guard(*job, [&] { Tokenize(*job); });
  lock.lock();
  std::erase(running_, running);
  if (job->kind == Job::Kind::kClose) {
    close_ = std::move(job);
    tokenizers_done_ = true;
  } else if (job->kind != Job::Kind::kTokenize && job->error_code == nullptr && !stop_) {
    // Taken only where it does not throw.
    Guard(*running, [&] { tokenized_.push_back(std::move(job)); });
  }
  if (!job) inference_wake_.notify_one();
  --tokenizing_;
  // Only a close waits for that.
  if (tokenizing_ == 0 && closing_) tokenizer_wake_.notify_all();
  if (job && !stop_) {
    lock.unlock();
    Finish(std::move(job));
    lock.lock();
  }
}

void Pipeline::Tokenize(Job& job) {
  if (!Counts(job)) return;
  const Vocabulary vocabulary = GetVocabulary();
  const Tokenizer* const tokenizer = vocabulary.tokenizer.get();
  if (tokenizer == nullptr) throw EngineError("ERR_ENGINE_NOT_OPEN", "open() has not succeeded");
  if (job.EndIfAbandoned()) return;
  const auto start = Clock::now();
  const auto measure = [&](void*) { job.tokenize_ms = MillisecondsSince(start); };
  const std::unique_ptr<void, decltype(measure)> measured(&job, measure);  // also of one refused
  if (job.kind == Job::Kind::kScore) {
    job.tokenized = tokenizer->Request(std::move(job.request), vocabulary.limit);
  } else {
    for (TextPart& text : job.texts) {
      std::vector<Token> tokens = tokenizer->Parts({std::move(text)});
      if (job.count_only) {
        job.counts.push_back(static_cast<uint32_t>(tokens.size()));
      } else {
        job.tokens.push_back(std::move(tokens));
      }
    }
  }
}

// ---- second stage ----------------------------------------------------------------

void Pipeline::InferenceMain() {
  JobPtr close;
  for (;;) {
    std::vector<JobPtr> arrived;
    const Clock::time_point due = inference_.due();
    {
      std::unique_lock<std::mutex> lock(mutex_);
      inference_wake_.wait(lock, [&] {
        return stop_ || !tokenized_.empty() || close_ || !inference_.idle() || close;
      });
      inference_wake_.wait_until(lock, due, [&] { return stop_ || !tokenized_.empty(); });
      if (stop_) break;
      arrived.swap(tokenized_);
      if (close_) close = std::move(close_);
      for (const JobPtr& job : arrived) NoteRunning(*job);
    }
    for (JobPtr& job : arrived) {
      if (job->kind == Job::Kind::kScore) {
        inference_.Add(std::move(job));
      } else {
        Guard(*job, [&] { Open(*job); });
        Finish(std::move(job));
      }
    }
    if (!inference_.idle()) {
      if (inference_.due() <= Clock::now()) inference_.Step();
    } else if (close) {
      Guard(*close, [&] { Close(); });
      return Finish(std::move(close));
    }
  }
  inference_.Stop();  // when torn down without a close; on this thread (rule 1)
}

void Pipeline::Open(Job& job) {
  if (GetVocabulary().model) throw EngineError("ERR_INVALID_ARGUMENT", "open() was called before");
  // The threads of ggml's pool, which aborts where the system gives none.
  const uint32_t threads = options_.engine.threads ? options_.engine.threads : AvailableCores();
  if (!options_.engine.metadata_only) CheckThreads(threads - 1);
  LoadPlan plan = PlanLoad(options_.engine, threads, stop_);
  const EngineOptions& options = plan.options;
  std::shared_ptr<const Model> model = Model::Load(options, stop_, progress_);
  std::shared_ptr<Vision> vision;
  if (!options.projector_path.empty() && !options.metadata_only) {
    vision = std::make_shared<Vision>(options, *model, threads);
  }
  auto tokenizer = std::make_shared<const Tokenizer>(*model, vision.get());
  job.facts = model->Facts();
  job.facts.placement =
      options.metadata_only ? std::move(plan.placement) : PlacementOf(*model, plan.placement);
  std::move(plan.notes.begin(), plan.notes.end(), std::back_inserter(job.facts.notes));
  job.facts.vision = vision != nullptr;
  for (Token token = 0; token < job.facts.vocabulary_size; ++token) {
    job.facts.ordinary.push_back(tokenizer->Ordinary(token));
  }
  inference_.Open(*model, vision.get(), options, job.facts);
  const size_t limit = LongestText(*model, job.facts);
  job.facts.max_state_tokens = static_cast<uint32_t>(limit);
  std::lock_guard<std::mutex> lock(mutex_);
  vocabulary_ = {std::move(model), std::move(vision), std::move(tokenizer), limit};
}

void Pipeline::Close() {
  inference_.Close();
  Vocabulary last;  // destroyed in order, the model after those who know it
  std::lock_guard<std::mutex> lock(mutex_);
  std::swap(last, vocabulary_);
}

}  // namespace oi
