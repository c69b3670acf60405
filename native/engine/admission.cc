#include "admission.h"

#include <algorithm>

#include "step.h"

namespace oi {
namespace {

// How many times as much a task must need to be suspended for another one.
constexpr double kMuchMore = 4;
// Turns without room until a task is waited for (rule 2): others, short ones, are about to make
// room anyway.
constexpr size_t kPatience = 32;

}  // namespace

bool Admission::Admit(ScoringTask& task, const Step& step) {
  if (deterministic_ && !active_.empty()) return false;                    // rule 3
  if (isolating() && (!task.suspect() || !active_.empty())) return false;  // rule 4
  if (!LeavesRoom(task)) return false;
  const auto tokens = static_cast<double>(task.request.prefix.size());
  const double token_seconds = rate_.Ms(Work::Of(tokens, 0)) / std::max(1.0, tokens) / 1000;
  StateCache::Found found;
  do {
    const size_t spare = ReservedCells(nullptr) + task.longest();
    found = cache_.Pin(WantedOf(task.request), spare, token_seconds, step.size());
  } while (!found.prefix && !found.wait && Suspend(task, step));
  if (!found.prefix) {
    // Its turn only if nobody had one before it in this step.
    const bool lost = !found.wait && step.size() == 0;
    if (lost && task.LoseTurn() >= kPatience && next_in_ == nullptr) next_in_ = &task;
    return false;
  }
  if (next_in_ == &task) next_in_ = nullptr;
  active_.insert(&task);  // first: what this throws unpins the prefix
  lost_tokens_ += task.Admit(*found.prefix.release(), found.tier, found.foreign);
  return true;
}

size_t Admission::ReservedCells(const ScoringTask* except) const {
  std::unordered_set<const Prefix*> prefixes;
  size_t sum = 0;
  for (const ScoringTask* task : active_) {
    if (task->prefix() == nullptr) continue;
    if (prefixes.insert(task->prefix()).second) sum += task->prefix()->missing();
    if (task != except) sum += task->QuestionCells();
  }
  return sum;
}

// False if the task would take room from the one that waits for it (rule 2). Behind others that
// need more than that one does, it waits anyway.
bool Admission::LeavesRoom(const ScoringTask& task) const {
  if (next_in_ == nullptr || next_in_ == &task) return true;
  double left = 0;
  for (const ScoringTask* other : active_) left += other->Remaining().tokens;
  return left > next_in_->Remaining().tokens;
}

// Makes room for a task whose turn it is: another one that needs much more, and has no question
// under way, gives up its place. What is evaluated of its prefix stays in the caches.
bool Admission::Suspend(const ScoringTask& task, const Step& step) {
  const double limit = kMuchMore * task.Remaining().tokens;
  const std::vector<ScoringTask*>& in_step = step.tasks();
  ScoringTask* most = nullptr;
  for (ScoringTask* other : active_) {
    if (!other->may_give_way() ||
        std::find(in_step.begin(), in_step.end(), other) != in_step.end()) {
      continue;
    }
    const double tokens = other->Remaining().tokens;
    if (tokens > limit && (most == nullptr || tokens > most->Remaining().tokens)) most = other;
  }
  if (most == nullptr) return false;
  active_.erase(most);
  cache_.Unpin(most->GiveWay());
  return true;
}

void Admission::Release(ScoringTask& task) noexcept {
  if (task.submitted() && !cache_.Saves(*task.prefix())) cache_.Unpin(task.GiveWay());
}

void Admission::Drop(ScoringTask& task) noexcept {
  if (next_in_ == &task) next_in_ = nullptr;
  if (task.suspect()) --suspects_;
  if (!task.done()) lost_tokens_ += task.evaluated();
  if (active_.erase(&task) == 0 || task.prefix() == nullptr) return;
  cache_.Unpin(task.Leave([&](const ScoringTask::Run& run) {
    cache_.device().Return(*task.prefix(), run.fork, run.evaluated);
  }));
}

// Who has had no answer yet may be the cause as well: among others it would spoil theirs again and
// again, and begin anew each time.
void Admission::Isolate() {
  for (ScoringTask* task : active_) {
    if (task->suspect() || task->done()) continue;
    task->Suspect();
    ++suspects_;
  }
  cache_.Purge();
  Restart();
}

void Admission::Restart() {
  for (ScoringTask* task : active_) lost_tokens_ += task->Restart();
  active_.clear();
  cache_.device().Clear(false);
}

}  // namespace oi
