// A scorer's task: how far its prefix and its questions are, and which of them are in the step.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cache/device_tier.h"
#include "rate.h"
#include "task.h"
#include "types.h"

namespace oi {

class ScoringTask final : public Task {
 public:
  // A question under way, in a fork of the prefix.
  struct Run {
    size_t item;
    llama_seq_id fork;
    size_t evaluated = 0;  // of its tokens, before this step
    size_t taken = 0;      // of its tokens, in this step
    int32_t row = -1;      // of the batch, where its logits will be; -1 before its last token
  };

  ScoringTask(TokenizedRequest request, std::function<bool()> abandoned);

  // Every question that has candidates is answered.
  bool done() const override { return finished_ == items_.size(); }
  // Tokens that are to be evaluated yet; of a prefix, by what the caches held when the task was
  // made, and exactly once it is admitted.
  Work Remaining() const;

  // ---- the prefix ----

  // Tokens of the prefix that a cache has, which is no promise.
  void Expect(size_t cached) { expected_ = cached; }
  // Null while it is not admitted, and once it needs it no more.
  Prefix* prefix() const { return prefix_; }
  // The prefix is pinned for the task, and `tier` gave what is evaluated of it, but for `foreign`
  // tokens (cache/state_cache.h, rule 7). Returns the tokens that were evaluated on its behalf,
  // before it gave way, and are lost.
  size_t Admit(Prefix& prefix, Tier tier, size_t foreign);
  // Returns how many turns in a row, this one too, there was no room for it.
  size_t LoseTurn() { return ++turns_lost_; }
  // Whether it may give its place to another (admission.h, rule 2).
  bool may_give_way() const {
    return runs_.empty() && unread_.empty() && prefix_->evaluated > admitted_at_ &&
           tokens_lost_ + prefix_->evaluated <= request.prefix.size();
  }
  // Gives its place up, or needs it no more. Returns the prefix, which is to be unpinned.
  Prefix& GiveWay();
  // `count` more of the prefix' tokens have been evaluated on its behalf.
  void AdvancePrefix(size_t count) { prefix_evaluated_ += count; }

  // ---- the questions ----

  const std::vector<Run>& runs() const { return runs_; }
  const TokenizedQuestion& question(size_t item) const {
    return request.questions[items_[item].question];
  }
  const TokenizedQuestion& question(const Run& run) const { return question(run.item); }
  // The next question that is not under way; null if all are, or are answered.
  const TokenizedQuestion* next_question() const {
    return begun_ == items_.size() ? nullptr : &request.questions[items_[begun_].question];
  }
  // Nothing of it is to be evaluated any more; answers may be missing yet.
  bool submitted() const { return begun_ == items_.size() && runs_.empty(); }
  size_t longest() const { return longest_; }    // tokens of the longest question
  size_t position() const { return position_; }  // of a question's first token, in the context
  // Cells that its questions may take: of the longest one, or of all that are under way.
  size_t QuestionCells() const;

  // The next question is under way in this fork.
  void Begin(llama_seq_id fork) { runs_.push_back({begun_++, fork}); }
  // The step evaluates `count` more tokens of a run. `row`: where its logits will be, or -1.
  void Plan(size_t run, size_t count, int32_t row);
  // The step was not evaluated.
  void CancelPlan();
  // The step is being evaluated, and nothing of it will be again. Gives `ended` each run that ends
  // in it, the last one first: its fork is of no more use.
  void Advance(const std::function<void(const Run&)>& ended);
  // Where the logits of a question's candidates go, and their log-sum-exp behind them.
  float* LogitsOf(size_t item) { return result.logits.data() + items_[item].offset; }
  int32_t& RankOf(size_t item) { return result.ranks[items_[item].rank]; }
  // The question, which has ended, is answered: its logits are read, and finite.
  void Answer(size_t item);

  // ---- the end ----

  // Begins anew, but for the questions that are answered. Returns the tokens that are lost.
  size_t Restart() noexcept;
  // Gives `use` the runs that are under way, and ends them. Returns the prefix, which is to be
  // unpinned.
  template <typename Use>
  Prefix& Leave(Use use) {
    for (const Run& run : runs_) use(run);
    runs_.clear();
    return *std::exchange(prefix_, nullptr);
  }
  // Tokens that were evaluated on its behalf.
  size_t evaluated() const { return prefix_evaluated_ + suffix_evaluated_; }

 private:
  // A question that is evaluated, and where its logits and its rank go.
  struct Item {
    size_t question;
    size_t offset;
    size_t rank;
  };

  std::vector<Item> items_;
  size_t begun_ = 0;     // of the items
  size_t finished_ = 0;  // of the items
  size_t longest_ = 0;
  size_t position_ = 0;
  Prefix* prefix_ = nullptr;
  size_t expected_ = 0;
  size_t suffix_left_ = 0;       // tokens of questions that are not evaluated yet
  size_t prefix_evaluated_ = 0;  // prefix tokens evaluated on its behalf
  size_t foreign_ = 0;           // prefix tokens that only other scopes had evaluated
  size_t suffix_evaluated_ = 0;
  size_t admitted_at_ = 0;  // prefix tokens that were evaluated when it was given its prefix
  size_t turns_lost_ = 0;   // in which there was no room for it, since it last had some
  size_t tokens_lost_ = 0;  // evaluated on its behalf, and evicted where it gave way
  std::vector<Run> runs_;
  std::vector<size_t> unread_;  // items that have ended, and are not answered
};

}  // namespace oi
