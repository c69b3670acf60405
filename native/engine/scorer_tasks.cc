// The scorer's tasks: checked, given a prefix in the context, suspended, dropped.

#include <algorithm>
#include <string>
#include <utility>

#include "error.h"
#include "input/check_request.h"
#include "input/image_tokens.h"
#include "input/vision.h"
#include "scorer.h"

namespace oi {
namespace {

// How many times as much a task must need to be suspended for another one.
constexpr double kMuchMore = 4;
// Turns without room until a task is waited for (rule 6): others, short ones, are about to make
// room anyway.
constexpr size_t kPatience = 32;

}  // namespace

std::unique_ptr<Task> Scorer::Begin(TokenizedRequest request, std::function<bool()> abandoned) {
  CheckRequest(request, vocabulary_size_, plan_.context_tokens);  // rule 3
  for (const auto& image : request.images) {
    if (!vision_->both_directions() || image->rows <= plan_.microbatch_tokens) continue;
    throw EngineError("ERR_REQUEST_UNACCEPTABLE",
                      "an image takes " + std::to_string(image->rows) +
                          " tokens, which are read in both directions and so at once: at most " +
                          std::to_string(plan_.microbatch_tokens));
  }
  auto task = std::make_unique<Task>();
  task->request = std::move(request);
  task->abandoned = std::move(abandoned);
  const std::vector<Token>& prefix = task->request.prefix;
  task->result.prefix_tokens = prefix.size();
  task->result.image_tokens =
      static_cast<size_t>(std::count_if(prefix.begin(), prefix.end(), IsImage));
  task->position = PositionAt(prefix, prefix.size());
  size_t floats = 0;
  for (size_t i = 0; i < task->request.questions.size(); ++i) {
    const TokenizedQuestion& question = task->request.questions[i];
    task->result.suffix_tokens += question.tokens.size();
    if (question.candidates.empty()) continue;
    task->items.push_back({i, floats});
    task->longest = std::max(task->longest, question.tokens.size());
    task->suffix_left += question.tokens.size();
    floats += question.candidates.size() + 1;
  }
  task->result.logits.resize(floats);
  task->result.ranks.resize(task->items.size());
  task->expected = task->done() ? 0 : cache_.Expect(task->request.prefix);
  return task;
}

Work Scorer::Remaining(const Task& task) const {
  const auto prefix = static_cast<double>(task.request.prefix.size());
  const auto have =
      static_cast<double>(task.prefix != nullptr ? task.prefix->evaluated : task.expected);
  const auto suffix = static_cast<double>(task.suffix_left);
  Work work = Work::Of(prefix - have, have);
  work += {suffix, suffix * prefix};
  return work;
}

bool Scorer::Admit(Task& task) {
  if (deterministic_ && !active_.empty()) return false;                    // rule 5
  if (suspects_ > 0 && (!task.suspect || !active_.empty())) return false;  // rule 7
  if (!LeavesRoom(task)) return false;
  const std::vector<Token>& prefix = task.request.prefix;
  const auto tokens = static_cast<double>(prefix.size());
  const double token_seconds = rate_.Ms(Work::Of(tokens, 0)) / std::max(1.0, tokens) / 1000;
  StateCache::Found found;
  do {
    const size_t spare = ReservedCells(active_, nullptr) + task.longest;
    found = cache_.Pin(prefix, spare, token_seconds);
  } while (found.prefix == nullptr && !found.wait && Suspend(task));
  if (found.prefix == nullptr) {
    // Its turn only if nobody had one before it in this step.
    const bool lost = !found.wait && step_.size() == 0;
    if (lost && ++task.turns_lost >= kPatience && next_in_ == nullptr) next_in_ = &task;
    return false;
  }
  if (next_in_ == &task) next_in_ = nullptr;
  task.turns_lost = 0;
  task.admitted_at = found.prefix->evaluated;
  task.prefix = found.prefix;
  if (task.prefix_evaluated == 0) task.result.tier = found.tier;  // else some of it is its own
  if (task.prefix_evaluated > task.prefix->evaluated) {  // suspended, and evicted meanwhile
    const size_t lost = task.prefix_evaluated - task.prefix->evaluated;
    stats_.lost_tokens += lost;
    task.tokens_lost += lost;
    task.prefix_evaluated = task.prefix->evaluated;
  }
  active_.insert(&task);
  return true;
}

// False if the task would take room from the one that waits for it (rule 6). Behind others that
// need more than that one does, it waits anyway.
bool Scorer::LeavesRoom(const Task& task) const {
  if (next_in_ == nullptr || next_in_ == &task) return true;
  double left = 0;
  for (const Task* other : active_) left += Remaining(*other).tokens;
  return left > Remaining(*next_in_).tokens;
}

// Makes room for a task whose turn it is: another one that needs much more, and has no question
// under way, gives up its place. What is evaluated of its prefix stays in the caches.
bool Scorer::Suspend(const Task& task) {
  const double limit = kMuchMore * Remaining(task).tokens;
  Task* most = nullptr;
  for (Task* other : active_) {
    const std::vector<Task*>& step = step_.tasks();
    if (!other->may_give_way() || std::find(step.begin(), step.end(), other) != step.end())
      continue;
    const double tokens = Remaining(*other).tokens;
    if (tokens > limit && (most == nullptr || tokens > Remaining(*most).tokens)) most = other;
  }
  if (most == nullptr) return false;
  active_.erase(most);
  most->expected = most->prefix->evaluated;
  cache_.Unpin(*std::exchange(most->prefix, nullptr));
  return true;
}

void Scorer::Drop(Task& task) {
  if (next_in_ == &task) next_in_ = nullptr;
  if (std::exchange(task.suspect, false)) --suspects_;
  if (!task.done()) stats_.lost_tokens += task.prefix_evaluated + task.suffix_evaluated;
  if (active_.erase(&task) == 0) return;
  for (const Task::Run& run : task.runs)
    cache_.device().Return(*task.prefix, run.fork, run.evaluated);
  task.runs.clear();
  cache_.Unpin(*task.prefix);
  task.prefix = nullptr;
}

// Rule 6. Who has had no answer yet may be the cause as well: among others it would spoil theirs
// again and again, and begin anew each time.
void Scorer::Isolate() {
  for (Task* task : active_) {
    if (task->suspect || task->done()) continue;
    task->not_finite = false;
    task->suspect = true;
    ++suspects_;
  }
  cache_.Purge();
  Restart();
}

// All that was admitted begins anew, but for the questions that are answered.
void Scorer::Restart() {
  for (Task* task : active_) {
    size_t lost = task->prefix_evaluated;
    std::vector<Task::Item> left;
    task->suffix_left = 0;
    for (const Task::Run& run : task->runs) {
      left.push_back(task->items[run.item]);
      lost += run.evaluated;
      task->suffix_evaluated -= run.evaluated;
    }
    stats_.lost_tokens += lost;
    left.insert(left.end(), task->items.begin() + static_cast<ptrdiff_t>(task->begun),
                task->items.end());
    for (const Task::Item& item : left) {
      task->suffix_left += task->request.questions[item.question].tokens.size();
    }
    task->items = std::move(left);
    task->begun = 0;
    task->finished = 0;
    task->runs.clear();
    task->prefix = nullptr;
    task->expected = 0;
    task->prefix_evaluated = 0;
  }
  active_.clear();
  cache_.device().Clear(false);
}

}  // namespace oi
