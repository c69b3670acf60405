#include "inference.h"

#include <algorithm>
#include <utility>

#include "../engine/encode/encoder.h"
#include "../engine/error.h"
#include "../engine/plan/placement.h"
#include "../engine/plan/step_tokens.h"
#include "../engine/prefix/prefix_encoder.h"
#include "../engine/scorer.h"
#include "../machine/cores.h"
#include "guard.h"

namespace oi {
namespace {

// Steps that a workspace may make up for after a pause: a few short requests.
constexpr size_t kBurstSteps = 8;
// A first guess, of English text.
constexpr double kBytesPerToken = 4;
// Of the time that a step takes, until the next one is submitted. The rest is for mistakes of the
// prediction, and for what the host has to do.
constexpr double kUntilNextStep = 0.75;

std::unique_ptr<Evaluator> MakeEvaluator(const Model& model, Vision* vision,
                                         const EngineOptions& options, uint32_t cores,
                                         const std::atomic<bool>& stop) {
  if (model.prefix() != nullptr) {
    return std::make_unique<PrefixEncoder>(model, options, cores, stop);
  }
  if (model.hidden() != nullptr) return std::make_unique<Encoder>(model, options, cores, stop);
  return std::make_unique<Scorer>(model, vision, options, cores, stop);
}

}  // namespace

void Inference::Open(const Model& model, Vision* vision, const EngineOptions& options,
                     ModelFacts& facts) {
  const uint32_t cores = AvailableCores();
  std::unique_ptr<Evaluator> evaluator;
  if (!options.metadata_only) {
    // Where no bit depends on company, nothing has to be done for that.
    EngineOptions easy = options;
    if (model.on_cpu() && model.kernels()) easy.deterministic = false;
    evaluator = MakeEvaluator(model, vision, easy, cores, stop_);
    evaluator->WarmUp();
    facts.same_bits = evaluator->invariant() || options.deterministic;
    if (evaluator->invariant()) {
      facts.kernels += ", the same bits in any company";
    } else if (options.deterministic && !easy.deterministic) {
      evaluator.reset();
      evaluator = MakeEvaluator(model, vision, options, cores, stop_);
      evaluator->WarmUp();
    }
    counters_.SetScorer(evaluator->stats());
    counters_.SetByteMs(evaluator->Ms({1, 0}) / kBytesPerToken);
  }
  const ContextPlan plan =
      evaluator ? evaluator->plan() : PlanContext(model, options, cores, NeedsWholeImages(vision));
  if (evaluator) {
    AddLogged(facts.placement, evaluator->memory());
  } else if (model.on_cpu()) {
    Placement ram = EmptyPlacement({}).front();
    ram.layers = model.memory().layers.at(ram.device);
    ram.weight_bytes = facts.weight_bytes;
    ram.cell_bytes = plan.context_bytes;
    facts.placement = {std::move(ram)};
  }
  facts.context_tokens = plan.context_tokens;
  facts.context_bytes = plan.context_bytes;
  facts.host_bytes = plan.host_bytes;
  facts.max_forks = plan.max_forks;
  facts.threads = plan.threads;
  facts.step_tokens = plan.step_tokens;
  scheduler_ = Scheduler(kBurstSteps * plan.step_tokens, overdue_ms_);
  evaluator_ = std::move(evaluator);
}

void Inference::Add(JobPtr owned) {
  Job* const job = owned.get();
  Guard(*job, [&] {
    live_.push_back(std::move(owned));  // takes it only where it does not throw
    if (!evaluator_) throw EngineError("ERR_ENGINE_NOT_OPEN", "opened for its metadata only");
    job->task = evaluator_->Begin(std::move(job->tokenized), [job] { return job->abandoned(); });
    if (job->task->done()) return;
    const Work work = evaluator_->Remaining(*job->task);
    scheduler_.Add(job, work.tokens);
    counters_.Tokenized(*job, work, evaluator_->Ms(work));
  });
  if (owned) return finished_(std::move(owned));
  if (job->error_code != nullptr || job->task->done()) End(job);
}

// What a step is evaluated for ends with it.
void Inference::DropAbandoned() {
  for (size_t i = live_.size(); i-- > 0;) {
    if (live_[i]->flights == 0 && live_[i]->EndIfAbandoned()) End(live_[i].get());
  }
}

void Inference::Step() {
  DropAbandoned();
  if (live_.empty()) return;
  // Who comes before the device is done is to be in the next step, so it is submitted ahead only
  // where it would have no room for another.
  const bool submitted = (flights_.empty() || Saturated()) && Submit();
  size_t ahead = submitted && evaluator_->ahead() ? 1 : 0;
  while (flights_.size() > ahead) {
    if (!Collect()) ahead = 0;
  }
  watch_.End();
}

// Whether what is left fills a step.
bool Inference::Saturated() {
  const auto tokens = static_cast<double>(StepTokens());
  double left = 0;
  for (const JobPtr& job : live_) {
    if (job->task) left += evaluator_->Remaining(*job->task).tokens;
    if (left >= tokens) return true;
  }
  return false;
}

// False if no step was submitted.
bool Inference::Submit() {
  Flight flight;
  flight.begun = Clock::now();
  Job failure(Job::Kind::kScore, 0);
  Guard(failure, [&] {
    Watch(0);
    Pick(flight.jobs);
    if (flight.jobs.empty()) return;
    counters_.SetRunning(flight.jobs.size());
    flight.expected_ms = evaluator_->StepMs();
    Watch(flight.expected_ms);
    flight.submitted = evaluator_->Submit();
  });
  if (flight.jobs.empty()) return false;
  Expect(flight);
  flight.error_code = failure.error_code;
  flight.error_message = std::move(failure.error_message);
  for (Job* job : flight.jobs) {
    ++job->flights;
    if (flight.submitted) NoteLeft(job);
  }
  flights_.push_back(std::move(flight));
  return flights_.back().submitted;
}

// When the step that was just submitted begins to be evaluated is not known: not before the one
// before it ends, as was predicted or, if that is earlier, as submitting waited for it.
void Inference::Expect(const Flight& flight) {
  const auto start = std::clamp(expected_end_, flight.begun, Clock::now());
  const auto in = [&](double ms) {
    return start + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double, std::milli>(ms));
  };
  next_due_ = in(kUntilNextStep * flight.expected_ms);
  expected_end_ = in(flight.expected_ms);
}

// Ends the oldest step. False if a job that has to go is in the next one, too.
bool Inference::Collect() {
  Watch(0);
  Flight flight = std::move(flights_.front());
  flights_.erase(flights_.begin());
  if (flight.submitted) {
    Job failure(Job::Kind::kScore, 0);
    bool evaluated = false;
    Guard(failure, [&] { evaluated = evaluator_->Collect(); });
    flight.error_code = failure.error_code;
    flight.error_message = std::move(failure.error_message);
    for (Job* job : flight.jobs) {
      if (!evaluated) NoteLeft(job);
    }
  }
  const auto now = Clock::now();
  const double ms = MillisecondsBetween(std::max(flight.begun, collected_), now);
  const double vision_ms = flight.submitted ? evaluator_->vision_ms() : 0;
  collected_ = now;
  for (Job* job : flight.jobs) {
    --job->flights;
    job->model_ms += ms - vision_ms;
    job->vision_ms += vision_ms;
    if (flight.error_code != nullptr) {
      job->SetError(flight.error_code, flight.error_message);
    } else if (job->task->not_finite()) {
      job->SetError("ERR_ENGINE_INTERNAL",
                    "the model's numbers for this request are not finite (NaN or infinity)");
    }
  }
  const auto ends = [](const Job* job) { return job->error_code != nullptr || job->task->done(); };
  const auto leaves = [&](const Job* job) { return ends(job) && job->flights == 0; };
  for (Job* job : flight.jobs) {
    if (leaves(job)) Release(job);
  }
  counters_.SetScorer(evaluator_->stats());
  const bool all = std::none_of(flight.jobs.begin(), flight.jobs.end(),
                                [&](const Job* job) { return ends(job) && job->flights > 0; });
  for (Job* job : flight.jobs) {
    if (leaves(job)) Finish(job);
  }
  return all;
}

// Steps that were submitted are to end in their time, and so is one of `more_ms`.
void Inference::Watch(double more_ms) {
  for (const Flight& flight : flights_) more_ms += flight.expected_ms;
  watch_.Begin(more_ms);
}

// What is left of the job, as it is known now.
void Inference::NoteLeft(Job* job) {
  Guard(*job, [&] {
    const Work work = evaluator_->Remaining(*job->task);
    scheduler_.Update(job, work.tokens);
    counters_.Progress(*job, work, evaluator_->Ms(work));
  });
}

// Fills a step in the scheduler's order. The jobs in it, and one whose turn failed, are added
// to `step` before anything can.
void Inference::Pick(std::vector<Job*>& step) {
  const ContextPlan& plan = evaluator_->plan();
  scheduler_.StartStep();
  evaluator_->StartStep(StepTokens());
  while (!evaluator_->full()) {
    Job* const job = scheduler_.Next();
    if (job == nullptr) break;
    if (!step.empty() && job->workspace != step.front()->workspace &&
        !scheduler_.HasMore(step.front()->workspace)) {
      // The first workspace has nothing more for this step: tokens of others would only delay it.
      evaluator_->LimitStep(plan.shared_step_tokens);
      if (evaluator_->full()) break;
    }
    step.push_back(job);
    const size_t tokens = evaluator_->Take(*job->task);
    scheduler_.Charge(job, tokens);
    if (tokens == 0) step.pop_back();
  }
  if (!step.empty() || !flights_.empty() || evaluator_->AwaitRead()) return;
  step.push_back(live_.front().get());
  throw EngineError("ERR_ENGINE_INTERNAL", "no request could go on");
}

size_t Inference::StepTokens() {
  const ContextPlan& plan = evaluator_->plan();
  const bool expecting = scheduler_.Expecting();
  // Looked for only where it counts.
  const Job* const first = expecting || plan.step_ms > 0 ? nullptr : scheduler_.Next();
  return oi::StepTokens(plan, expecting, plan.step_ms > 0 ? evaluator_->TokensIn(plan.step_ms) : 0,
                        first == nullptr ? 0 : evaluator_->Remaining(*first->task).tokens);
}

// Frees what the job held in the evaluator and the scheduler.
void Inference::Release(Job* job) noexcept {
  if (job->task) evaluator_->Drop(*job->task);
  scheduler_.Remove(job);
}

// The job leaves, answered or with its error.
void Inference::Finish(Job* job) noexcept {
  job->queue_ms = std::max(
      0.0, MillisecondsSince(job->accepted) - job->model_ms - job->vision_ms - job->tokenize_ms);
  const auto it = std::find_if(live_.begin(), live_.end(),
                               [job](const JobPtr& entry) { return entry.get() == job; });
  JobPtr owned = std::move(*it);
  live_.erase(it);
  finished_(std::move(owned));
}

void Inference::End(Job* job) noexcept {
  Release(job);
  if (evaluator_) counters_.SetScorer(evaluator_->stats());
  Finish(job);
}

void Inference::Close() {
  if (evaluator_) evaluator_->Flush();
  evaluator_.reset();
}

}  // namespace oi
