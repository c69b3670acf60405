// What has been accepted and is not done: how long that will take, and who is to be refused.
//
// The bound is in predicted milliseconds, not in requests: a hundred short ones are less than
// one long one. Beyond it, a workspace is refused once it has its share of the bound or more.
// So one that floods the queue cannot close it to others, and the whole stays bounded: the n-th
// workspace to come adds the n-th part of the bound at most.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "job.h"

namespace oi {

class Backlog {
 public:
  Backlog(size_t max_requests, double max_ms) : max_requests_(max_requests), max_ms_(max_ms) {}

  // Nothing if the job may be added; else after how many milliseconds it might.
  std::optional<double> Refusal(const Job& job) const {
    if (requests_ >= max_requests_) {
      // As long as one request takes on average.
      return std::max(1.0, ms_ / static_cast<double>(std::max<size_t>(1, requests_)));
    }
    // Tokenizing alone does not wait for the model.
    if (ms_ < max_ms_ || job.kind != Job::Kind::kScore) return std::nullopt;
    const auto it = shares_.find(job.workspace);
    const double own = it == shares_.end() ? 0 : it->second.ms;
    const auto others = static_cast<double>(shares_.size() - (it == shares_.end() ? 0 : 1));
    const double share = max_ms_ / (others + 1);
    if (own < share) return std::nullopt;
    // Down to the share at the rate that is the workspace's own. At the bound itself, a tenth
    // of it: room for more than the one that asks again first.
    return std::max(own - share, share / 10) * (others + 1);
  }

  void Add(Job& job, double tokens, double ms) {
    ++requests_;
    if (job.kind != Job::Kind::kScore) return;
    ++shares_[job.workspace].requests;
    Change(job, tokens, ms);
  }

  // What is left of it.
  void Change(Job& job, double tokens, double ms) {
    tokens_ += tokens - job.backlog_tokens;
    ms_ += ms - job.backlog_ms;
    shares_[job.workspace].ms += ms - job.backlog_ms;
    job.backlog_tokens = tokens;
    job.backlog_ms = ms;
  }

  void Remove(Job& job) {
    if (job.kind == Job::Kind::kScore) {
      Change(job, 0, 0);
      if (--shares_[job.workspace].requests == 0) shares_.erase(job.workspace);
    }
    if (--requests_ == 0) tokens_ = ms_ = 0;  // and the rounding errors
  }

  size_t requests() const { return requests_; }
  double tokens() const { return tokens_; }
  double ms() const { return ms_; }

 private:
  struct Share {
    size_t requests = 0;
    double ms = 0;
  };

  const size_t max_requests_;
  const double max_ms_;
  size_t requests_ = 0;
  double tokens_ = 0;
  double ms_ = 0;
  std::unordered_map<uint32_t, Share> shares_;  // workspaces with requests
};

}  // namespace oi
