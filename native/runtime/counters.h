// The counters of a pipeline and its backlog: what it has accepted, done and refused. Thread-safe.

#pragma once

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

#include "../engine/rate.h"
#include "../engine/stats.h"
#include "backlog.h"
#include "job.h"

namespace oi {

class Counters {
 public:
  Counters(size_t max_requests, double max_ms, double overdue_ms)
      : backlog_(max_requests, max_ms, overdue_ms) {}

  // Enters a job, or says why not.
  std::optional<Refusal> Enter(Job& job) {
    std::lock_guard<std::mutex> lock(mutex_);
    const double ms = static_cast<double>(job.text_bytes) * byte_ms_;
    if (auto refusal = backlog_.Refuse(job, ms)) {
      ++stats_.refused;
      return refusal;
    }
    backlog_.Add(job, 0, ms);
    return std::nullopt;
  }

  // Nobody waits for the job any more: it counts no more in what others wait for, though it has
  // not left yet.
  void Forget(Job& job) {
    std::lock_guard<std::mutex> lock(mutex_);
    backlog_.Remove(job);
  }

  // A first guess, milliseconds, for a byte of text, before any was tokenized.
  void SetByteMs(double ms) {
    std::lock_guard<std::mutex> lock(mutex_);
    byte_ms_ = ms;
  }

  // The job is tokenized: its work, and the milliseconds that it will take, replace the guess by
  // its bytes.
  void Tokenized(Job& job, const Work& work, double ms) {
    std::lock_guard<std::mutex> lock(mutex_);
    backlog_.Tokenized(job);
    backlog_.Change(job, work.tokens, ms);
    const double byte_ms = ms / static_cast<double>(std::max<size_t>(1, job.text_bytes));
    byte_ms_ = kByteKeep * byte_ms_ + (1 - kByteKeep) * byte_ms;
  }

  // The work that is left of the job, and its milliseconds.
  void Progress(Job& job, const Work& work, double ms) {
    std::lock_guard<std::mutex> lock(mutex_);
    backlog_.Change(job, work.tokens, ms);
  }

  // The job is done, whatever its outcome. Once.
  void Leave(Job& job) {
    std::lock_guard<std::mutex> lock(mutex_);
    backlog_.Remove(job);
    if (job.kind == Job::Kind::kScore) CountEnd(job);
  }

  void SetScorer(const ScorerStats& stats) {
    std::lock_guard<std::mutex> lock(mutex_);
    stats_.scorer = stats;
  }

  // So many requests are in the step that begins.
  void SetRunning(size_t requests) {
    std::lock_guard<std::mutex> lock(mutex_);
    running_ = requests;
  }

  EngineStats stats() const {
    std::lock_guard<std::mutex> lock(mutex_);
    EngineStats stats = stats_;
    stats.queued_requests = backlog_.requests();
    stats.running_requests = std::min<uint64_t>(running_, stats.queued_requests);
    stats.queued_tokens = backlog_.tokens();
    stats.backlog_ms = backlog_.ms();
    return stats;
  }

 private:
  // How fast the prediction for a byte of text follows.
  static constexpr double kByteKeep = 0.9;

  void CountEnd(const Job& job) {
    if (job.error_code == nullptr) {
      const ScoreResult& result = job.task->result;
      const auto tier = static_cast<size_t>(result.cached_tokens > 0 ? result.tier : Tier::kNone);
      ++stats_.answered;
      stats_.not_finite_in_row = 0;
      ++stats_.hits[tier];
      stats_.prompt_tokens += result.prefix_tokens + result.suffix_tokens;
      stats_.cached_tokens[tier] += result.cached_tokens;
    } else if (std::strcmp(job.error_code, "ERR_ABORTED") == 0) {
      ++stats_.cancelled;
    } else if (std::strcmp(job.error_code, "ERR_TIMEOUT") == 0) {
      ++stats_.expired;
    } else {
      ++stats_.failed;
      if (job.task && job.task->not_finite()) ++stats_.not_finite_in_row;
    }
  }

  mutable std::mutex mutex_;
  Backlog backlog_;
  EngineStats stats_;
  size_t running_ = 0;  // of the last step: between steps, too
  double byte_ms_ = 0;  // predicted for a byte that is not tokenized yet
};

}  // namespace oi
