#include "scorer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cache/planned_options.h"
#include "clock.h"
#include "error.h"
#include "input/check_request.h"
#include "input/image_batch.h"
#include "input/vision.h"
#include "llama.h"
#include "log.h"
#include "model.h"
#include "warm_up.h"

namespace oi {
namespace {

constexpr size_t kWarmUpTokens = 64;
constexpr double kWarmUpMs = 200;
// The status of llama_decode() after the abort callback returned true.
constexpr int32_t kAborted = 2;
// Steps of fewer tokens leave a GPU idle.
constexpr size_t kMinStepTokens = 256;

StateCache::Options CacheOptions(const ContextPlan& plan, const EngineOptions& options,
                                 const Model& model) {
  StateCache::Options cache = PlannedOptions(plan, options);
  cache.recurrent = model.recurrent();
  cache.window = model.window();
  cache.grid = options.deterministic ? plan.step_tokens : 0;
  return cache;
}

}  // namespace

Scorer::Scorer(const Model& model, Vision* vision, const EngineOptions& options,
               uint32_t default_threads, const std::atomic<bool>& stop)
    : vision_(vision),
      stop_(stop),
      plan_(PlanContext(model, options, default_threads, NeedsWholeImages(vision))),
      recurrent_(model.recurrent()),
      windowed_(model.window() > 0),
      on_gpu_(!model.on_cpu()),
      vocabulary_size_(static_cast<size_t>(llama_vocab_n_tokens(model.vocab()))),
      context_(model, options, plan_, &Scorer::OnAbort, this),
      room_(plan_.fillers > 1
                ? CellRoomOf(context_.get(), static_cast<llama_seq_id>(plan_.sequences),
                             static_cast<llama_seq_id>(plan_.sequences + plan_.fillers - 1))
                : nullptr),
      turns_(room_ && !recurrent_ ? OutputTurnsOf(context_.get()) : nullptr),
      memory_(context_.memory()),
      readout_(vocabulary_size_, on_gpu_ ? plan_.threads : 1),
      sequence_memory_(context_.get(), room_.get()),
      cache_(sequence_memory_, CacheOptions(plan_, options, model)),
      admission_(cache_, rate_, options.deterministic),
      step_(plan_, cache_.device(), admission_, recurrent_, options.deterministic, room_.get()) {
  flights_.reserve(2);
  if (!turns_) return;
  for (auto& [name, buffers] : memory_.buffers) buffers.outputs *= 2;
}

// A step is aborted only if no other task loses by it. An interrupted recurrent state, or sliding
// window, cannot be trusted: such a model's step is evaluated to its end.
bool Scorer::OnAbort(void* self) {
  auto* const scorer = static_cast<Scorer*>(self);
  if (!scorer->submitted_) scorer->submitted_ = Clock::now();
  if (scorer->stop_.load(std::memory_order_relaxed)) return true;
  return scorer->evaluating_ && !scorer->recurrent_ && !scorer->windowed_ && scorer->Abandoned();
}

bool Scorer::Abandoned() const {
  const std::vector<ScoringTask*>& tasks = step_.tasks();
  // A task that shares the prefix goes on with what the step adds to it.
  return std::all_of(tasks.begin(), tasks.end(), [](const ScoringTask* task) {
    const Prefix& prefix = *task->prefix();
    return task->abandoned() && (prefix.missing() == 0 || prefix.pins == 1);
  });
}

// A step of few tokens, and where the size of steps is chosen by their time, a full one: the two
// tell what a step costs from what its tokens do.
void Scorer::WarmUp() {
  WarmUp(std::min<size_t>(kWarmUpTokens, plan_.step_tokens));
  if (plan_.step_ms > 0) WarmUp(plan_.step_tokens);
  if (context_.own_attention()) {
    // Our attention gives a token the same bits among few and many, on any number of threads.
    plan_.min_rows = 0;
    context_.AdaptThreads();
  }
}

void Scorer::WarmUp(size_t count) {
  const double fastest_ms = FastestMs(kWarmUpMs, [&] {
    cache_.device().sequences().Cut(0, 0);
    step_.Start(count);
    for (size_t i = 0; i < count; ++i) step_.AddPlain(i, i + 1 == count);
    Flight flight;
    if (Decode(flight) != 0) {
      throw EngineError("ERR_ENGINE_INTERNAL", "the first decode failed: " + FirstLoggedError());
    }
    if (turns_) flight.rows = turns_->Turn();
    llama_synchronize(context_.get());
    RequireFinite(readout_.PlainIsFinite(RowsOf(flight)));
  });
  cache_.device().Clear(true);
  const auto tokens = static_cast<double>(count);
  recent_.Add(tokens, fastest_ms);
  rate_.AddLasting(Work::Of(tokens, 0), fastest_ms);
}

size_t Scorer::TokensIn(double ms) const {
  return rate_.TokensIn(ms, std::min<size_t>(kMinStepTokens, plan_.step_tokens), plan_.step_tokens);
}

std::unique_ptr<Task> Scorer::Begin(TokenizedRequest request, std::function<bool()> abandoned) {
  CheckRequest(request, vocabulary_size_, plan_.context_tokens);  // rule 3
  for (const auto& image : request.images) {
    if (!vision_->both_directions() || image->rows <= plan_.microbatch_tokens) continue;
    throw EngineError("ERR_REQUEST_UNACCEPTABLE",
                      "an image takes " + std::to_string(image->rows) +
                          " tokens, which are read in both directions and so at once: at most " +
                          std::to_string(plan_.microbatch_tokens));
  }
  auto task = std::make_unique<ScoringTask>(std::move(request), std::move(abandoned));
  if (!task->done()) task->Expect(cache_.Expect(WantedOf(task->request)));
  return task;
}

Work Scorer::Remaining(const Task& task) const {
  return static_cast<const ScoringTask&>(task).Remaining();
}

size_t Scorer::Take(Task& offered) {
  auto& task = static_cast<ScoringTask&>(offered);
  if (step_.full() || task.submitted()) return 0;
  if (task.prefix() == nullptr && !admission_.Admit(task, step_)) return 0;
  return step_.Add(task);
}

void Scorer::Drop(Task& task) noexcept { admission_.Drop(static_cast<ScoringTask&>(task)); }

bool Scorer::Submit() {
  if (Abandoned()) {
    Reset();
    return false;
  }
  Flight flight;
  flight.tokens = step_.size();
  step_.Complete();
  try {
    for (ScoringTask* task : step_.tasks()) {
      for (const ScoringTask::Run& run : task->runs()) {
        if (run.row < 0) continue;
        const size_t row = step_.batch().OutputsBefore(static_cast<size_t>(run.row));
        flight.asked.push_back({task, run.item, row});
      }
    }
    submitted_.reset();
    evaluating_ = true;
    const int32_t status = Decode(flight);
    evaluating_ = false;
    if (on_gpu_ || !submitted_) submitted_ = Clock::now();
    if (status == kAborted) {
      llama_synchronize(context_.get());
      Undo();
      return false;
    }
    if (status != 0) {
      throw EngineError(
          "ERR_ENGINE_INTERNAL",
          "llama_decode failed with " + std::to_string(status) + ": " + FirstLoggedError());
    }
    if (turns_) flight.rows = turns_->Turn();
    flight.work = step_.work();
    flight.padding = step_.padding();
    flight.read_cells = step_.read_cells();
    Advance();
  } catch (...) {
    evaluating_ = false;
    llama_synchronize(context_.get());
    Undo();
    throw;
  }
  // While a device computes, what the host does costs nothing.
  if (flights_.empty() || !on_gpu_) {
    stats_.submit_ms += MillisecondsBetween(flight.begun, *submitted_);
  }
  if (!flights_.empty()) ++stats_.steps_ahead;
  flights_.push_back(std::move(flight));
  return true;
}

int32_t Scorer::Decode(Flight& flight) {
  if (step_.image()) return DecodeImage(flight);
  ClearLog();
  return llama_decode(context_.get(), step_.batch().View());
}

int32_t Scorer::DecodeImage(Flight& flight) {
  const Step::ImageChunk& chunk = *step_.image();
  const std::string& scope = step_.chunks().front().task->request.scope;
  const std::vector<float>& rows = vision_->Rows(*chunk.image, scope);
  flight.vision_ms = vision_->encoding_ms();
  ClearLog();
  ImageBatch batch(*chunk.image, chunk.position, chunk.sequence, vision_->mrope());
  const int32_t status =
      batch.Decode(context_.get(), rows, plan_.batch_tokens, vision_->both_directions());
  // On a GPU, its time would be counted in the next step.
  if (status == 0) llama_synchronize(context_.get());
  return status;
}

// Rule 6.
void Scorer::Advance() {
  for (const Step::Chunk& chunk : step_.chunks()) {
    cache_.device().Grow(*chunk.task->prefix(), chunk.count);
    chunk.task->AdvancePrefix(chunk.count);
  }
  for (ScoringTask* task : step_.tasks()) {
    Prefix& prefix = *task->prefix();
    task->Advance([&](const ScoringTask::Run& run) {
      cache_.device().Return(prefix, run.fork, run.evaluated);
    });
    if (ahead()) admission_.Release(*task);
  }
  step_.Empty();
}

// The step is not evaluated.
void Scorer::Reset() {
  for (ScoringTask* task : step_.tasks()) task->CancelPlan();
}

// After a decode that did not finish: cells hold what was evaluated before it. But a recurrent
// state may have been moved in llama.cpp's tables and not in memory, so it is not trusted; and a
// sliding window may have given the cells behind the cut to others.
void Scorer::Undo() {
  Reset();
  if (recurrent_ || windowed_) {
    LoseFlights();
    return admission_.Restart();
  }
  Sequences& sequences = cache_.device().sequences();
  for (const Step::Chunk& chunk : step_.chunks()) {
    const Prefix& prefix = *chunk.task->prefix();
    sequences.Cut(prefix.sequence, prefix.Position(prefix.evaluated));
  }
  for (const ScoringTask* task : step_.tasks()) {
    const Prefix& prefix = *task->prefix();
    for (const ScoringTask::Run& run : task->runs()) {
      // A fork of a prefix that this step was to complete has nothing of its end.
      sequences.Cut(run.fork, prefix.Position(prefix.evaluated) + run.evaluated);
    }
  }
  step_.Empty();
}

// ---- figures ---------------------------------------------------------------------

ScorerStats Scorer::stats() const {
  ScorerStats stats = stats_;
  stats.lost_tokens = admission_.lost_tokens();
  stats.tokens_per_second = recent_.PerSecond();
  stats.readout_bytes = on_gpu_ ? readout_.bytes() : 0;
  stats.graphs_reused = static_cast<uint64_t>(llama_perf_context(context_.get()).n_reused);
  stats.cache = cache_.stats();
  return stats;
}

}  // namespace oi
