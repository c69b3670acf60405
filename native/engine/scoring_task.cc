#include "scoring_task.h"

#include <algorithm>
#include <utility>

#include "input/image_tokens.h"

namespace oi {

ScoringTask::ScoringTask(TokenizedRequest asked, std::function<bool()> abandoned)
    : Task(std::move(asked), std::move(abandoned)) {
  const std::vector<Token>& prefix = request.prefix;
  result.image_tokens = static_cast<size_t>(std::count_if(prefix.begin(), prefix.end(), IsImage));
  position_ = PositionAt(prefix, prefix.size());
  size_t floats = 0;
  for (size_t i = 0; i < request.questions.size(); ++i) {
    const TokenizedQuestion& question = request.questions[i];
    if (question.candidates.empty()) continue;
    items_.push_back({i, floats, items_.size()});
    longest_ = std::max(longest_, question.tokens.size());
    suffix_left_ += question.tokens.size();
    floats += question.candidates.size() + 1;
  }
  result.logits.resize(floats);
  result.ranks.resize(items_.size());
}

Work ScoringTask::Remaining() const {
  const auto prefix = static_cast<double>(request.prefix.size());
  const auto have = static_cast<double>(prefix_ != nullptr ? prefix_->evaluated : expected_);
  const auto suffix = static_cast<double>(suffix_left_);
  Work work = Work::Of(prefix - have, have);
  work += {suffix, suffix * prefix};
  return work;
}

size_t ScoringTask::Admit(Prefix& prefix, Tier tier, size_t foreign) {
  prefix_ = &prefix;
  turns_lost_ = 0;
  admitted_at_ = prefix.evaluated;
  if (prefix_evaluated_ == 0) {  // else some of it is its own
    result.tier = tier;
    foreign_ = foreign;
  }
  if (prefix_evaluated_ <= prefix.evaluated) return 0;
  // It gave way, and was evicted meanwhile.
  const size_t lost = prefix_evaluated_ - prefix.evaluated;
  tokens_lost_ += lost;
  prefix_evaluated_ = prefix.evaluated;
  return lost;
}

Prefix& ScoringTask::GiveWay() {
  expected_ = prefix_->evaluated;
  return *std::exchange(prefix_, nullptr);
}

size_t ScoringTask::QuestionCells() const {
  size_t under_way = 0;
  for (const Run& run : runs_) under_way += question(run).tokens.size();
  return std::max(longest_, under_way);
}

void ScoringTask::Plan(size_t run, size_t count, int32_t row) {
  runs_[run].taken = count;
  runs_[run].row = row;
}

void ScoringTask::CancelPlan() {
  for (Run& run : runs_) {
    run.taken = 0;
    run.row = -1;
  }
}

// The last one first: who asks the same again has the same sequences, and llama.cpp its graph.
void ScoringTask::Advance(const std::function<void(const Run&)>& ended) {
  unread_.reserve(items_.size());  // before anything has changed
  for (auto it = runs_.rbegin(); it != runs_.rend(); ++it) {
    Run& run = *it;
    run.evaluated += run.taken;
    suffix_evaluated_ += run.taken;
    suffix_left_ -= run.taken;
    run.taken = 0;
    if (run.row < 0) continue;
    ended(run);
    unread_.push_back(run.item);
  }
  std::erase_if(runs_, [](const Run& run) { return run.row >= 0; });
}

void ScoringTask::Answer(size_t item) {
  std::erase(unread_, item);
  ++finished_;
  // Whatever is not finite in a state makes all that is evaluated behind it so.
  if (prefix_ != nullptr) prefix_->proved = prefix_->evaluated;
  if (!done()) return;
  // Both as they would be without other scopes.
  const size_t had = request.prefix.size() - prefix_evaluated_;
  const size_t foreign = std::min(had, foreign_);
  result.cached_tokens = had - foreign;
  result.evaluated_tokens = evaluated() + foreign;
}

size_t ScoringTask::Restart() noexcept {
  size_t lost = prefix_evaluated_;
  const auto lose = [&](size_t evaluated) {
    lost += evaluated;
    suffix_evaluated_ -= evaluated;
  };
  for (const Run& run : runs_) lose(run.evaluated);
  for (const size_t item : unread_) lose(question(item).tokens.size());
  // Those that are not answered come first, in place of all that were begun.
  size_t kept = 0;
  for (size_t item = 0; item < begun_; ++item) {
    const bool under_way =
        std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) { return run.item == item; });
    const bool unread = std::find(unread_.begin(), unread_.end(), item) != unread_.end();
    if (under_way || unread) items_[kept++] = items_[item];
  }
  const auto first = items_.begin();
  items_.erase(first + static_cast<ptrdiff_t>(kept), first + static_cast<ptrdiff_t>(begun_));
  suffix_left_ = 0;
  for (const Item& item : items_) suffix_left_ += request.questions[item.question].tokens.size();
  begun_ = 0;
  finished_ = 0;
  runs_.clear();
  unread_.clear();
  prefix_ = nullptr;
  expected_ = 0;
  prefix_evaluated_ = 0;
  return lost;
}

}  // namespace oi
