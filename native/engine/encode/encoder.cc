#include "encoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "../clock.h"
#include "../error.h"
#include "../finite.h"
#include "../input/check_request.h"
#include "../model.h"
#include "../warm_up.h"
#include "llama.h"
#include "unused_logits.h"

namespace oi {
namespace {

constexpr size_t kWarmUpTokens = 64;
constexpr double kWarmUpMs = 100;
// The status of llama_encode() after the abort callback returned true.
constexpr int32_t kAborted = 2;

}  // namespace

// A request and the passes that it takes.
struct Encoder::Encoding : Task {
  using Task::Task;

  bool done() const override { return finished == passes.size(); }

  std::vector<PassPlan> passes;
  std::vector<QuestionPlace> places;
  std::vector<float> kept;
  Work left;
  size_t begun = 0;     // passes
  size_t finished = 0;  // passes
};

Encoder::Encoder(const Model& model, const EngineOptions& options, uint32_t default_threads,
                 const std::atomic<bool>& stop)
    : model_(model),
      readout_(*model.hidden()),
      options_(options),
      stop_(stop),
      vocabulary_size_(static_cast<size_t>(llama_vocab_n_tokens(model.vocab()))),
      width_(static_cast<size_t>(llama_model_n_embd_out(model.get()))),
      plan_(PlanContext(model, options, default_threads, false)),
      capacity_(std::max(plan_.context_tokens, plan_.step_tokens)),
      batch_(capacity_) {
  context_.emplace(model, options, plan_, &Encoder::OnAbort, this);
}

bool Encoder::OnAbort(void* self) {
  const auto* encoder = static_cast<Encoder*>(self);
  if (encoder->stop_.load(std::memory_order_relaxed)) return true;
  return encoder->evaluating_ && encoder->Abandoned();
}

bool Encoder::Abandoned() const {
  return std::all_of(tasks_.begin(), tasks_.end(),
                     [](const Task* task) { return task->abandoned(); });
}

void Encoder::WarmUp() {
  const size_t count = std::min<size_t>(kWarmUpTokens, plan_.context_tokens);
  const auto pass = [&] {
    batch_.Clear();
    for (size_t i = 0; i < count; ++i) batch_.Add(0, i, 0, true);
    ClearLog();
    if (Evaluate(batch_) != 0) {
      throw EngineError("ERR_ENGINE_INTERNAL", "the first pass failed: " + FirstLoggedError());
    }
  };
  double fastest_ms = FastestMs(kWarmUpMs, pass);
  if (context_->own_attention()) {
    // Our attention gives a token the same bits among few and many, on any number of threads.
    context_->AdaptThreads();
  } else if (model_.on_cpu() && plan_.flash_attention == FlashAttention::kAuto) {
    // llama.cpp's flash attention sums in half precision here, an error of up to 2e-2 in a logit.
    plan_.flash_attention = FlashAttention::kOff;
    context_.reset();
    context_.emplace(model_, options_, plan_, &Encoder::OnAbort, this);
    fastest_ms = FastestMs(kWarmUpMs, pass);
  }
  RequireFinite(CountFinite(State(0), width_) == width_);
  recent_.Add(static_cast<double>(count), fastest_ms);
  rate_.AddLasting(Work::Whole(count), fastest_ms);
}

std::unique_ptr<Task> Encoder::Begin(TokenizedRequest request, std::function<bool()> abandoned) {
  CheckTokens(request, vocabulary_size_);  // rule 3
  auto task = std::make_unique<Encoding>(std::move(request), std::move(abandoned));
  const std::vector<TokenizedQuestion>& questions = task->request.questions;
  ScoreResult& result = task->result;
  size_t asked = 0;  // questions that have candidates
  for (const TokenizedQuestion& question : questions) {
    task->places.push_back({result.logits.size(), asked});
    if (question.candidates.empty()) continue;
    ++asked;
    result.logits.resize(result.logits.size() + question.candidates.size() + 1);
  }
  task->passes = readout_.Plan(task->request, plan_.context_tokens);
  for (const PassPlan& pass : task->passes) task->left += Work::Whole(pass.tokens);
  result.ranks.resize(asked);
  return task;
}

Work Encoder::Remaining(const Task& task) const { return static_cast<const Encoding&>(task).left; }

void Encoder::StartStep(size_t tokens) {
  stats_.capacity_tokens += tokens;
  batch_.Clear();
  runs_.clear();
  tasks_.clear();
  work_ = {};
  alone_ = false;
  size_ = std::min(tokens, capacity_);
}

void Encoder::LimitStep(size_t tokens) { size_ = std::min(size_, std::max(tokens, batch_.size())); }

bool Encoder::full() const {
  return batch_.size() >= size_ || runs_.size() == plan_.max_forks || alone_;
}

size_t Encoder::Take(Task& offered) {
  auto& task = static_cast<Encoding&>(offered);
  const size_t before = batch_.size();
  const size_t begun = task.begun;
  if (task.suspect() && before > 0) return 0;  // rule 5
  while (task.begun < task.passes.size() && !full()) {
    const PassPlan& pass = task.passes[task.begun];
    // A step that has nothing yet takes any pass (rule 2).
    if (batch_.size() > 0 && batch_.size() + pass.tokens > size_) break;
    Add(task, task.begun++);
    alone_ = options_.deterministic;
  }
  if (task.suspect()) alone_ = true;
  if (task.begun > begun) tasks_.push_back(&task);
  return batch_.size() - before;
}

void Encoder::Add(Encoding& task, size_t index) {
  const PassPlan& pass = task.passes[index];
  const std::vector<Token> tokens = readout_.TokensOf(task.request, pass);
  const size_t row = batch_.size();
  const auto sequence = static_cast<llama_seq_id>(runs_.size());
  for (size_t i = 0; i < tokens.size(); ++i) batch_.Add(tokens[i], i, sequence, true);
  work_ += Work::Whole(tokens.size());
  runs_.push_back({&task, index, row, tokens.size()});
}

bool Encoder::Submit() {
  const auto undo = [&] {
    for (const Run& run : runs_) run.task->begun = std::min(run.task->begun, run.pass);
  };
  if (Abandoned()) {
    undo();
    return false;
  }
  const auto start = Clock::now();
  ClearLog();
  evaluating_ = true;
  const int32_t status = Evaluate(batch_);
  evaluating_ = false;
  if (status != 0) {
    undo();
    if (status == kAborted) return false;
    throw EngineError("ERR_ENGINE_INTERNAL", "evaluating failed with " + std::to_string(status) +
                                                 ": " + FirstLoggedError());
  }
  const bool finite = ReadLogits();
  CountStep(MillisecondsSince(start));
  if (finite) {
    Advance();
  } else if (tasks_.size() == 1) {
    tasks_.front()->SetNotFinite();
  } else {
    for (Encoding* task : tasks_) task->Suspect();  // rule 5
    undo();
  }
  return true;
}

// Evaluates the batch and reads the hidden states of all tokens. Returns the status of the first
// call of llama.cpp that failed, or 0.
int32_t Encoder::Evaluate(Batch& batch) {
  llama_context* context = context_->get();
  // A later step multiplies the cells of this one by zero, and a NaN in them stays one (rule 5): so
  // unless all was read and is finite, their numbers go with them.
  bool finite = false;
  const auto clear = [&](void*) {
    if (readout_.causal()) llama_memory_clear(llama_get_memory(context), !finite);
  };
  const std::unique_ptr<void, decltype(clear)> cleared(context, clear);
  const size_t count = batch.size();
  states_.resize(count * width_);
  int32_t status = 0;
  for (size_t begin = 0; begin < count && status == 0; begin += plan_.microbatch_tokens) {
    const size_t part = std::min<size_t>(plan_.microbatch_tokens, count - begin);
    const llama_batch view = batch.View(begin, part);
    status = readout_.causal() ? llama_decode(context, view) : llama_encode(context, view);
    llama_synchronize(context);
    for (size_t i = 0; i < part && status == 0; ++i) {
      const float* row = llama_get_embeddings_ith(context, static_cast<int32_t>(i));
      if (row == nullptr) throw EngineError("ERR_ENGINE_INTERNAL", "llama.cpp gave no states");
      std::copy_n(row, width_, states_.begin() + static_cast<ptrdiff_t>((begin + i) * width_));
    }
  }
  finite = status == 0 && CountFinite(states_.data(), states_.size()) == states_.size();
  if (!readout_.causal() && status == 0 && count > largest_ && model_.on_cpu()) {
    largest_ = count;
    ReleaseUnusedLogits(context, vocabulary_size_, count);
  }
  return status;
}

// False if any logit is not finite.
bool Encoder::ReadLogits() {
  bool finite = true;
  for (const Run& run : runs_) {
    Encoding& task = *run.task;
    Answering answering{task.request, task.places, task.result, task.kept};
    const PassStates states{State(run.row), run.tokens, width_};
    finite = readout_.Answer(task.passes[run.pass], states, answering) && finite;
  }
  return finite;
}

void Encoder::Advance() {
  for (const Run& run : runs_) {
    const size_t tokens = run.task->passes[run.pass].tokens;
    const Work done = Work::Whole(tokens);
    run.task->left += {-done.tokens, -done.attended};
    run.task->result.evaluated_tokens += tokens;
    ++run.task->finished;
  }
  for (Encoding* task : tasks_) {
    if (task->done()) task->left = {};
  }
}

void Encoder::CountStep(double ms) {
  ++stats_.steps;
  stats_.evaluated_tokens += batch_.size();
  stats_.busy_ms += ms;
  recent_.Add(static_cast<double>(batch_.size()), ms);
  rate_.Add(work_, ms);
}

void Encoder::Drop(Task& task) noexcept {
  const auto& encoding = static_cast<const Encoding&>(task);
  if (!encoding.done()) stats_.lost_tokens += encoding.result.evaluated_tokens;
}

ScorerStats Encoder::stats() const {
  ScorerStats stats = stats_;
  stats.tokens_per_second = recent_.PerSecond();
  stats.graphs_reused = static_cast<uint64_t>(llama_perf_context(context_->get()).n_reused);
  return stats;
}

}  // namespace oi
