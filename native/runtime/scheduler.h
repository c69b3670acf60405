// Decides whose turn it is: fair between workspaces, shortest first within one, without starvation.
//
// Between workspaces: each one has a counter of the tokens that were evaluated for it, and the
// lowest has the next turn (a virtual token counter, as in Sheng et al., "Fairness in Serving
// Large Language Models", 2024). One that comes back from a pause has missed turns; it may make
// up for a few steps of them and no more. So a workspace that uses less than its share is served
// at once, beside whatever flood, and nobody saves up turns.
//
// Within a workspace: what needs the fewest tokens is first, but a quarter of the tokens are
// the oldest request's, so a long one delays short ones by a third at most. Once it is overdue it
// has three quarters: with half of the longest backlog behind it, what was there before it takes
// no longer than the rest of a common deadline, however many short ones keep coming.
//
// Used on one thread. Holds no job alive.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace oi {

struct Job;

// Which part of a workspace's tokens its oldest request has.
double OldestShare(const Job& oldest, double overdue_ms);

class Scheduler {
 public:
  // `burst`: tokens of missed turns that a workspace may make up for. `overdue_ms`: how long
  // after it was accepted a job is overdue.
  Scheduler(size_t burst, double overdue_ms)
      : burst_(static_cast<double>(burst)), overdue_ms_(overdue_ms) {}

  void Add(Job* job, double tokens);
  // Removing one that was never added does nothing.
  void Remove(Job* job) noexcept;
  // What the job still needs, in tokens.
  void Update(Job* job, double tokens);
  // All jobs may have a turn again.
  void StartStep() { ++step_; }
  // True if a workspace that has nothing now may be back soon: others have had turns lately.
  bool Expecting() const;
  // True if a job of the workspace may still have a turn in this step.
  bool HasMore(uint32_t workspace);
  // The next job to have its turn in this step; null when all had theirs. The turn ends with
  // Charge().
  Job* Next();
  // What the turn took; 0 if the job had no use for it.
  void Charge(Job* job, size_t tokens);

 private:
  struct Entry {
    Job* job;
    uint64_t arrival;
    double tokens;
    uint64_t step = 0;  // of its last turn
  };
  struct Workspace {
    double served = 0;
    double owed = 0;             // tokens that the oldest entry may have before shorter ones
    std::vector<Entry> entries;  // the oldest first
  };

  Entry* Best(Workspace& workspace);
  std::vector<Entry>::iterator Find(Job* job);

  static constexpr uint64_t kLately = 64;  // steps

  double burst_;
  double overdue_ms_;
  std::unordered_map<uint32_t, Workspace> workspaces_;
  size_t size_ = 0;
  uint64_t arrivals_ = 0;
  uint64_t step_ = kLately;
  std::optional<uint32_t> last_workspace_;  // that had a turn
  uint64_t shared_step_ = 0;                // the last one with jobs of several workspaces
};

}  // namespace oi
