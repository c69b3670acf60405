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
    items_.push_back({i, floats});
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

void ScoringTask::Refuse(size_t run) {
  runs_[run].row = -1;
  SetNotFinite();
}

// The last one first: who asks the same again has the same sequences, and llama.cpp its graph.
void ScoringTask::Advance(const std::function<void(const Run&)>& answered) {
  for (auto it = runs_.rbegin(); it != runs_.rend(); ++it) {
    Run& run = *it;
    run.evaluated += run.taken;
    suffix_evaluated_ += run.taken;
    suffix_left_ -= run.taken;
    run.taken = 0;
    if (run.row < 0) continue;
    answered(run);
    ++finished_;
  }
  std::erase_if(runs_, [](const Run& run) { return run.row >= 0; });
  if (!done()) return;
  // Both as they would be without other scopes.
  const size_t had = request.prefix.size() - prefix_evaluated_;
  const size_t foreign = std::min(had, foreign_);
  result.cached_tokens = had - foreign;
  result.evaluated_tokens = evaluated() + foreign;
}

size_t ScoringTask::Restart() noexcept {
  size_t lost = prefix_evaluated_;
  // Those under way come first, in place of all that were begun. In their order, none is lost.
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.item < b.item; });
  for (size_t i = 0; i < runs_.size(); ++i) {
    items_[i] = items_[runs_[i].item];
    lost += runs_[i].evaluated;
    suffix_evaluated_ -= runs_[i].evaluated;
  }
  const auto first = items_.begin();
  items_.erase(first + static_cast<ptrdiff_t>(runs_.size()),
               first + static_cast<ptrdiff_t>(begun_));
  suffix_left_ = 0;
  for (const Item& item : items_) suffix_left_ += request.questions[item.question].tokens.size();
  begun_ = 0;
  finished_ = 0;
  runs_.clear();
  prefix_ = nullptr;
  expected_ = 0;
  prefix_evaluated_ = 0;
  return lost;
}

}  // namespace oi
