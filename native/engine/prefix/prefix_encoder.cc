#include "prefix_encoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "../cache/planned_options.h"
#include "../clock.h"
#include "../error.h"
#include "../finite.h"
#include "../input/check_request.h"
#include "../logits/log_sum_exp.h"
#include "../model.h"
#include "../plan/memory.h"
#include "../warm_up.h"
#include "llama.h"
#include "prefix_reading.h"

namespace oi {
namespace {

constexpr size_t kWarmUpTokens = 64;
constexpr double kWarmUpMs = 100;

StateCache::Options CacheOptions(const ContextPlan& plan, const EngineOptions& options) {
  StateCache::Options cache = PlannedOptions(plan, options);
  cache.whole = true;  // nobody reads a stranger's cells
  return cache;
}

CellShape ShapeOf(const Model& model, const EngineOptions& options) {
  return {CacheGgmlType(options.cache_type),
          static_cast<size_t>(llama_model_n_embd_out(model.get())),
          static_cast<size_t>(llama_model_n_layer(model.get()))};
}

}  // namespace

PrefixEncoder::PrefixEncoder(const Model& model, const EngineOptions& options,
                             uint32_t default_threads, const std::atomic<bool>& stop)
    : model_(model),
      readout_(*model.prefix()),
      options_(options),
      stop_(stop),
      vocabulary_size_(static_cast<size_t>(llama_vocab_n_tokens(model.vocab()))),
      plan_(PlanContext(model, options, default_threads, false)),
      limit_(std::min<size_t>(readout_.positions(), plan_.context_tokens)),
      forward_(MakeForward(model, options, plan_,
                           [this] {
                             return stop_.load(std::memory_order_relaxed) ||
                                    (evaluating_ && Abandoned());
                           })),
      separate_(options.deterministic && !forward_->invariant()),
      kept_(ShapeOf(model, options), forward_->cell_memory()),
      cache_(kept_, CacheOptions(plan_, options)),
      memory_(forward_->memory()) {
  const char* const where = ggml_backend_buft_name(forward_->cell_memory());
  memory_.buffers[where].cells += static_cast<double>(plan_.context_bytes);
}

bool PrefixEncoder::Abandoned() const {
  return std::all_of(tasks_.begin(), tasks_.end(),
                     [](const Task* task) { return task->abandoned(); });
}

void PrefixEncoder::WarmUp() {
  const size_t count = std::min(kWarmUpTokens, limit_);
  const std::vector<Token> tokens(count, 0);
  const double fastest_ms = FastestMs(kWarmUpMs, [&] {
    step_.Clear();
    AddPart(tokens.data(), count, 0, 0, {}, {});
    for (size_t i = 0; i < count; ++i) step_.outputs.push_back(i);
    if (!forward_->Run(step_)) {
      throw EngineError("ERR_ENGINE_CLOSED", "closed while the model was opened");
    }
  });
  const size_t width = kept_.shape().width;
  for (size_t i = 0; i < count; ++i) {
    RequireFinite(CountFinite(forward_->State(i), width) == width);
  }
  step_.Clear();
  recent_.Add(static_cast<double>(count), fastest_ms);
  rate_.AddLasting(Work::Whole(count), fastest_ms);
}

std::unique_ptr<Task> PrefixEncoder::Begin(TokenizedRequest request,
                                           std::function<bool()> abandoned) {
  CheckTokens(request, vocabulary_size_);
  auto task = std::make_unique<Reading>(std::move(request), std::move(abandoned));
  const std::vector<TokenizedQuestion>& questions = task->request.questions;
  const size_t state = task->request.prefix.size();
  size_t longest = 0;
  int32_t at_fault = kNoQuestion;  // unless a question is longer than the state
  for (size_t i = 0; i < questions.size(); ++i) {
    if (questions[i].candidates.empty()) continue;
    Reading::Item item{i, task->result.logits.size(), readout_.Parts(questions[i])};
    size_t option = 0;
    for (size_t k = 1; k < item.parts.size(); ++k) {
      option = std::max(option, item.parts[k].size());
    }
    const size_t tokens = item.parts.front().size() + option;
    if (tokens > longest && tokens > state) at_fault = static_cast<int32_t>(i);
    longest = std::max(longest, tokens);
    task->result.logits.resize(item.logits + questions[i].candidates.size() + 1);
    task->left += task->WorkOf(item, 1);
    task->items.push_back(std::move(item));
  }
  if (state == 0) throw EngineError("ERR_INVALID_ARGUMENT", "a state has no tokens");
  if (state + longest > limit_) {
    throw EngineError("ERR_STATE_TOO_LONG",
                      "state and question with its longest option take " +
                          std::to_string(state + longest) + " tokens (the state " +
                          std::to_string(state) + "), the limit is " + std::to_string(limit_),
                      at_fault);
  }
  task->result.ranks.resize(task->items.size());
  task->expected = cache_.Expect(WantedOf(task->request));
  return task;
}

Work PrefixEncoder::Remaining(const Task& task) const {
  const auto& reading = static_cast<const Reading&>(task);
  Work work = reading.left;
  const size_t state = reading.request.prefix.size();
  const size_t have = reading.prefix != nullptr ? reading.prefix->evaluated : reading.expected;
  if (!reading.done() && have < state) work += Work::Whole(state);
  return work;
}

bool PrefixEncoder::Submit() {
  if (Abandoned()) {
    Undo();
    return false;
  }
  for (const Output& output : outputs_) step_.outputs.push_back(output.row);
  const auto start = Clock::now();
  evaluating_ = true;
  try {
    const bool whole = forward_->Run(step_);
    evaluating_ = false;
    if (!whole) {
      Undo();
      return false;
    }
  } catch (...) {
    evaluating_ = false;
    Undo();
    throw;
  }
  const bool finite = ReadLogits();
  const double ms = MillisecondsSince(start);
  const auto count = static_cast<double>(step_.tokens.size());
  ++stats_.steps;
  stats_.evaluated_tokens += step_.tokens.size();
  stats_.busy_ms += ms;
  recent_.Add(count, ms);
  rate_.Add(work_, ms);
  if (finite) {
    Advance();
  } else if (tasks_.size() == 1 && tasks_.front()->suspect()) {
    tasks_.front()->SetNotFinite();
  } else {
    Isolate();
  }
  return true;
}

// False if any logit is not finite.
bool PrefixEncoder::ReadLogits() {
  bool finite = true;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    const Reading::Item& item = output.task->items[output.item];
    const auto kind = static_cast<PrefixKind>(output.task->Question(item).candidates.front());
    const float logit = readout_.Logit(kind, forward_->State(i));
    output.task->result.logits[item.logits + output.logit] = logit;
    finite = finite && IsFinite(logit);
  }
  return finite;
}

void PrefixEncoder::Advance() {
  for (const NewState& state : new_states_) {
    const size_t count = state.prefix->missing();
    cache_.device().Grow(*state.prefix, count);
    state.task->own = true;
    state.task->evaluated += count;
  }
  for (Reading* task : tasks_) {
    size_t finished = 0;
    while (finished < task->items.size() &&
           task->items[finished].begun >= task->items[finished].parts.size()) {
      ++finished;
    }
    for (size_t i = task->finished; i < finished; ++i) {
      const Reading::Item& item = task->items[i];
      // There is no vocabulary beside the options.
      float* logits = task->result.logits.data() + item.logits;
      const size_t count = task->Question(item).candidates.size();
      logits[count] = static_cast<float>(LogSumExp(logits, count));
    }
    if (finished > task->finished) task->prefix->proved = task->prefix->evaluated;
    task->finished = finished;
    task->left = {};
    for (size_t i = finished; i < task->items.size(); ++i) {
      task->left += task->WorkOf(task->items[i], task->items[i].begun);
    }
  }
  for (const kernels::StepPart& part : step_.parts) {
    if (part.levels == 0) continue;
    // Its own outputs, or those of the options behind it.
    const auto it =
        std::partition_point(outputs_.begin(), outputs_.end(),
                             [&](const Output& output) { return output.row < part.first; });
    if (it != outputs_.end()) it->task->evaluated += part.count;
  }
  for (Reading* task : tasks_) {
    if (!task->done()) continue;
    task->result.evaluated_tokens = task->evaluated;
    task->result.cached_tokens = task->own ? 0 : task->request.prefix.size();
  }
}

// Rule 5.
void PrefixEncoder::Isolate() {
  for (Reading* task : active_) {
    if (!task->suspect() && !task->done()) {
      task->Suspect();
      ++suspects_;
    }
    stats_.lost_tokens += task->evaluated;
    task->prefix = nullptr;
    task->next = 0;
    task->finished = 0;
    task->evaluated = 0;
    task->own = false;
    task->expected = 0;
    task->left = {};
    for (Reading::Item& item : task->items) {
      item.begun = 0;
      task->left += task->WorkOf(item, 1);
    }
  }
  active_.clear();
  cache_.Purge();
}

void PrefixEncoder::Release(Reading& task) {
  if (active_.erase(&task) > 0) cache_.Unpin(*std::exchange(task.prefix, nullptr));
}

void PrefixEncoder::Drop(Task& task) noexcept {
  auto& reading = static_cast<Reading&>(task);
  if (next_in_ == &reading) next_in_ = nullptr;
  if (reading.suspect()) --suspects_;
  if (!reading.done()) stats_.lost_tokens += reading.evaluated;
  Release(reading);
}

ScorerStats PrefixEncoder::stats() const {
  ScorerStats stats = stats_;
  stats.tokens_per_second = recent_.PerSecond();
  stats.cache = cache_.stats();
  return stats;
}

}  // namespace oi
