// One request on its way through the model.

#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

#include "cache/device_tier.h"
#include "types.h"

namespace oi {

struct Task {
  virtual ~Task() = default;  // an encoder's knows more (encode/encoder.cc)

  TokenizedRequest request;
  ScoreResult result;
  // True once nobody waits for it any more. Asked on the inference thread, also inside a step.
  std::function<bool()> abandoned;

  // The rest is the evaluator's.

  // A question that is evaluated, and where its logits go.
  struct Item {
    size_t question;
    size_t offset;
  };
  // A question under way, in a fork of the prefix.
  struct Run {
    size_t item;
    llama_seq_id fork;
    size_t evaluated = 0;  // of its tokens, before this step
    size_t taken = 0;      // in this step
    int32_t row = -1;      // of the batch, where its logits will be; -1 before its last token
  };
  std::vector<Item> items;
  size_t begun = 0;
  size_t finished = 0;
  size_t longest = 0;   // tokens of the longest question
  size_t position = 0;  // of a question's first token, in the context
  Prefix* prefix = nullptr;
  size_t expected = 0;          // prefix tokens that a cache had when the task was made
  size_t suffix_left = 0;       // tokens of questions that are not evaluated yet
  size_t prefix_evaluated = 0;  // prefix tokens evaluated on its behalf
  size_t suffix_evaluated = 0;
  size_t admitted_at = 0;  // prefix tokens that were evaluated when it was given its prefix
  size_t turns_lost = 0;   // in which there was no room for it, since it last had some
  size_t tokens_lost = 0;  // evaluated on its behalf, and evicted where it gave way
  std::vector<Run> runs;
  // An answer was not finite, its own or that of another task beside it.
  bool suspect = false;
  // Nor was it when the task was alone: it has no answer.
  bool not_finite = false;

  // scorer.h, rule 7.
  bool may_give_way() const {
    return runs.empty() && prefix->evaluated > admitted_at &&
           tokens_lost + prefix->evaluated <= request.prefix.size();
  }
  bool done() const { return finished == items.size(); }
  const TokenizedQuestion& question(const Run& run) const {
    return request.questions[items[run.item].question];
  }
  const TokenizedQuestion& next_question() const {
    return request.questions[items[begun].question];
  }
};

// Tasks that have a prefix and are not dropped.
using ActiveTasks = std::unordered_set<Task*>;

// Cells that they will still take, so that each of them can end: the rest of its prefix, and
// its longest question or those that it has begun. The questions of `except` are left out.
inline size_t ReservedCells(const ActiveTasks& active, const Task* except) {
  std::unordered_set<const Prefix*> prefixes;
  size_t sum = 0;
  for (const Task* task : active) {
    if (prefixes.insert(task->prefix).second) sum += task->prefix->missing();
    if (task == except) continue;
    size_t begun = 0;
    for (const Task::Run& run : task->runs) begun += task->question(run).tokens.size();
    sum += std::max(task->longest, begun);
  }
  return sum;
}

}  // namespace oi
