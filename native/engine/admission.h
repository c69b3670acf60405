// Which tasks have a place in the context: a pinned prefix, and room to end.
//
// Rules
//   1. An admitted task has room to end: cells for the rest of its prefix and for its longest
//      question are kept free of others.
//   2. A task that finds no room, turn after turn, gets it: once those that have room need no more
//      than it does, nobody is admitted before it. One that gives way has gone on before, and
//      loses no more than its own prefix, however often it does. So each one ends.
//   3. Deterministic: one task at a time.
//   4. After an answer that was not finite, each task that was admitted then is alone in the
//      context, before any other (scorer.h, rule 5).

#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "cache/state_cache.h"
#include "rate.h"
#include "scoring_task.h"

namespace oi {

class Step;

class Admission {
 public:
  // `rate` predicts what evaluating a prefix would take. Both must outlive it.
  Admission(StateCache& cache, const Rate& rate, bool deterministic)
      : cache_(cache), rate_(rate), deterministic_(deterministic) {}

  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // Gives the task its prefix. False: not now. Another one may have to give way, none of which is
  // in `step`.
  bool Admit(ScoringTask& task, const Step& step);

  // Rule 1: cells that all admitted tasks will still take. The questions of `except` are left out.
  size_t ReservedCells(const ScoringTask* except) const;

  // The task has been submitted as a whole. It needs its prefix no more, which is unpinned unless
  // it is to be saved, and so has to be proved.
  void Release(ScoringTask& task) noexcept;

  // Takes back what the task holds; once, admitted or not.
  void Drop(ScoringTask& task) noexcept;

  // All that was admitted begins anew, but for the questions that are answered. All pointers to
  // prefixes are void.
  void Restart();

  // Rule 4, from now on. The same as Restart(), and what is not proved is forgotten.
  void Isolate();
  bool isolating() const { return suspects_ > 0; }

  // Tokens that were evaluated in vain.
  uint64_t lost_tokens() const { return lost_tokens_; }

 private:
  bool LeavesRoom(const ScoringTask& task) const;
  bool Suspend(const ScoringTask& task, const Step& step);

  StateCache& cache_;
  const Rate& rate_;
  const bool deterministic_;
  std::unordered_set<ScoringTask*> active_;  // admitted, and not dropped
  const ScoringTask* next_in_ = nullptr;     // rule 2: the one that waits for room
  size_t suspects_ = 0;                      // tasks that are suspect, and not dropped
  uint64_t lost_tokens_ = 0;
};

}  // namespace oi
