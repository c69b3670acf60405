// Jobs that were accepted and are not done: predicts how long a request would wait behind them, and
// refuses requests.
//
// Rules
//   1. The forecast is that of the scheduler's turns. Before a request come those of its workspace
//      that are no longer than it, what the oldest takes of their time, and as much of every other
//      workspace as of its own. So a small one passes beside a large one, and one that floods the
//      queue closes it to itself alone.
//   2. A request is refused if its forecast is `max_ms` or more, however long it takes itself.
//   3. Once there are `max_requests` of them, it is refused if its workspace has its share of them.
//   4. So the n-th workspace to come adds the n-th part of either bound at most.
//   5. What is cancelled counts no more, although its step still runs.
//   6. A workspace's texts that are not tokenized are bounded by its share of kMostBytes, whatever
//      the size of the first.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "job.h"

namespace oi {

// Why a job was not accepted, for people, and when trying again makes sense.
struct Refusal {
  double retry_after_ms = 0;
  std::string message;
};

class Backlog {
 public:
  static constexpr size_t kMostBytes = 64 << 20;

  // `overdue_ms` is the scheduler's.
  Backlog(size_t max_requests, double max_ms, double overdue_ms)
      : max_requests_(max_requests), max_ms_(max_ms), overdue_ms_(overdue_ms) {}

  // Nothing if the job, which takes `ms` itself, may be added.
  std::optional<Refusal> Refuse(const Job& job, double ms) const;

  void Add(Job& job, double tokens, double ms);
  // The job's texts wait no more.
  void Tokenized(Job& job);
  // What is left of it. Of one that was removed, nothing.
  void Change(Job& job, double tokens, double ms);
  // Removing it again does nothing.
  void Remove(Job& job);

  size_t requests() const { return requests_ + tokenizing_; }
  double tokens() const { return tokens_; }
  double ms() const { return ms_; }

 private:
  struct Share {
    std::vector<const Job*> jobs;  // the oldest first
    double ms = 0;
    size_t bytes = 0;  // not tokenized
  };

  std::optional<Refusal> RefuseByBytes(const Job& job, size_t waiting, size_t shares) const;
  std::optional<Refusal> RefuseByNumber(const Job& job, const Share& own) const;
  std::optional<Refusal> RefuseByTime(const Share& own, double ms, const Job& job) const;
  double WithOthers(double ms, uint32_t workspace) const;

  const size_t max_requests_;
  const double max_ms_;
  const double overdue_ms_;
  size_t requests_ = 0;
  size_t tokenizing_ = 0;
  size_t tokenizing_bytes_ = 0;
  double tokens_ = 0;
  double ms_ = 0;
  std::unordered_map<uint32_t, Share> shares_;  // workspaces with requests
};

}  // namespace oi
