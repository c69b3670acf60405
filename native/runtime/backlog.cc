#include "backlog.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "scheduler.h"

namespace oi {
namespace {

// A job that is longer by no more than this counts as before a request too: it becomes the shorter
// one while it is evaluated. And so a workspace's total is bounded.
constexpr double kAboutAsLong = 2;
// Tokenizing jobs for each request that may wait: clients that were answered count tokens.
constexpr size_t kTextsPerRequest = 4;
constexpr double kTokenizingMs = 100;

std::string Seconds(double ms) {
  const auto tenths = static_cast<uint64_t>(std::ceil(std::max(0.0, ms) / 100));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

std::optional<Refusal> Backlog::Refuse(const Job& job, double ms) const {
  if (job.kind != Job::Kind::kScore) {  // does not wait for the model
    if (tokenizing_ < kTextsPerRequest * max_requests_) {
      return RefuseByBytes(job, tokenizing_bytes_, 1);
    }
    return Refusal{kTokenizingMs, "too many texts are waiting to be tokenized"};
  }
  const auto it = shares_.find(job.workspace);
  if (it == shares_.end()) return std::nullopt;
  if (auto refusal = RefuseByBytes(job, it->second.bytes, shares_.size())) return refusal;
  if (auto refusal = RefuseByNumber(job, it->second)) return refusal;
  return RefuseByTime(it->second, ms, job);
}

// Rule 6.
std::optional<Refusal> Backlog::RefuseByBytes(const Job& job, size_t waiting, size_t shares) const {
  if (waiting == 0 || waiting + job.text_bytes <= kMostBytes / shares) return std::nullopt;
  return Refusal{kTokenizingMs, std::to_string(waiting) + " bytes of text " +
                                    (job.kind == Job::Kind::kScore ? "of this workspace " : "") +
                                    "are waiting to be tokenized, and at most " +
                                    std::to_string(kMostBytes / shares) + " may wait"};
}

// Rule 3. The workspace may try again once as many of its jobs are done as it has too many.
std::optional<Refusal> Backlog::RefuseByNumber(const Job& job, const Share& own) const {
  const size_t share = std::max<size_t>(1, max_requests_ / shares_.size());
  const size_t count = own.jobs.size();
  if (requests_ < max_requests_ || count < share) return std::nullopt;
  std::vector<double> sizes;
  for (const Job* other : own.jobs) sizes.push_back(other->backlog_ms);
  const auto end = sizes.begin() + static_cast<ptrdiff_t>(count - share + 1);
  std::partial_sort(sizes.begin(), end, sizes.end());
  const double ms = WithOthers(std::accumulate(sizes.begin(), end, 0.0), job.workspace);
  return Refusal{std::max(1.0, ms),
                 std::to_string(count) + " requests of this workspace are waiting for the model, " +
                     (share == max_requests_ ? "as many as may wait"
                                             : "its share of the " + std::to_string(max_requests_) +
                                                   " that may wait is " + std::to_string(share))};
}

// Rule 2.
std::optional<Refusal> Backlog::RefuseByTime(const Share& own, double ms, const Job& job) const {
  double before = 0;
  double longer = 0;
  bool oldest_before = false;
  auto gone = Clock::time_point::min();  // when the last of those before it has no time left
  for (const Job* other : own.jobs) {
    if (other->abandoned()) continue;
    if (other->backlog_ms > kAboutAsLong * ms) {
      longer += other->backlog_ms;
      continue;
    }
    before += other->backlog_ms;
    gone = std::max(gone, other->deadline);
    oldest_before = oldest_before || other == own.jobs.front();
  }
  if (!oldest_before) {
    const double share = OldestShare(*own.jobs.front(), overdue_ms_);
    before += std::min(longer, before * share / (1 - share));
  }
  const double wait = WithOthers(before, job.workspace);
  if (wait < max_ms_) return std::nullopt;
  // At the bound itself, a tenth of it: room for more than the one that asks again first.
  double retry = std::max(wait - max_ms_, max_ms_ / 10);
  if (gone != Clock::time_point::max()) retry = std::min(retry, -MillisecondsSince(gone));
  return Refusal{std::max(1.0, retry), "what is before this request takes the model about " +
                                           Seconds(wait) + ", and at most " + Seconds(max_ms_) +
                                           " are waited for"};
}

// While a workspace has turns for `ms`, each other workspace has as many, if it needs them.
double Backlog::WithOthers(double ms, uint32_t workspace) const {
  double sum = ms;
  for (const auto& [id, share] : shares_) {
    if (id != workspace) sum += std::min(share.ms, ms);
  }
  return sum;
}

void Backlog::Add(Job& job, double tokens, double ms) {
  // First: what this throws has added nothing.
  if (job.kind == Job::Kind::kScore) shares_[job.workspace].jobs.push_back(&job);
  job.in_backlog = true;
  job.waiting_bytes = job.text_bytes;
  if (job.kind != Job::Kind::kScore) {
    ++tokenizing_;
    tokenizing_bytes_ += job.text_bytes;
    return;
  }
  ++requests_;
  shares_[job.workspace].bytes += job.text_bytes;
  Change(job, tokens, ms);
}

void Backlog::Tokenized(Job& job) {
  if (!job.in_backlog) return;
  size_t& bytes = job.kind == Job::Kind::kScore ? shares_[job.workspace].bytes : tokenizing_bytes_;
  bytes -= std::exchange(job.waiting_bytes, 0);
}

void Backlog::Change(Job& job, double tokens, double ms) {
  if (!job.in_backlog) return;
  tokens_ += tokens - job.backlog_tokens;
  ms_ += ms - job.backlog_ms;
  shares_[job.workspace].ms += ms - job.backlog_ms;
  job.backlog_tokens = tokens;
  job.backlog_ms = ms;
}

void Backlog::Remove(Job& job) {
  if (!job.in_backlog) return;
  Tokenized(job);
  if (job.kind != Job::Kind::kScore) {
    --tokenizing_;
  } else {
    Change(job, 0, 0);
    Share& share = shares_[job.workspace];
    std::erase(share.jobs, &job);
    if (share.jobs.empty()) shares_.erase(job.workspace);
    if (--requests_ == 0) tokens_ = ms_ = 0;  // drops rounding errors
  }
  job.in_backlog = false;
}

}  // namespace oi
