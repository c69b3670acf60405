// What one engine has done since it was opened. src/engine/stats.ts says what each counter means,
// with its unit; ForEachStat() below names them as it does.

#pragma once

#include <cstddef>
#include <cstdint>

namespace oi {

enum class Tier { kNone, kDevice, kHost, kDisk };
constexpr size_t kTiers = 4;

struct CacheStats {
  size_t device_cells = 0;
  size_t device_cells_used = 0;
  size_t device_cells_idle = 0;
  size_t device_prefixes = 0;
  uint64_t host_bytes = 0;
  uint64_t host_bytes_limit = 0;
  size_t host_prefixes = 0;
  uint64_t disk_bytes = 0;
  uint64_t disk_bytes_limit = 0;
  size_t disk_prefixes = 0;
};

struct ScorerStats {
  uint64_t steps = 0;
  uint64_t capacity_tokens = 0;
  uint64_t evaluated_tokens = 0;
  uint64_t padding_tokens = 0;
  uint64_t lost_tokens = 0;
  uint64_t readout_bytes = 0;
  double submit_ms = 0;
  uint64_t steps_ahead = 0;
  uint64_t read_pairs = 0;
  uint64_t seen_pairs = 0;
  uint64_t graphs_reused = 0;
  double busy_ms = 0;
  double tokens_per_second = 0;
  CacheStats cache;
};

struct EngineStats {
  ScorerStats scorer;
  uint64_t queued_requests = 0;
  uint64_t running_requests = 0;
  double queued_tokens = 0;
  double backlog_ms = 0;
  uint64_t answered = 0;
  uint64_t cancelled = 0;
  uint64_t expired = 0;
  uint64_t refused = 0;
  uint64_t failed = 0;
  uint64_t not_finite_in_row = 0;
  uint64_t prompt_tokens = 0;
  uint64_t cached_tokens[kTiers] = {};  // of answered requests, by tier; the first is unused
  uint64_t hits[kTiers] = {};           // answered requests, by their best tier
};

// Calls `use(name, value)` for each counter, with the names and in the order of
// src/engine/stats.ts, in which they are sent (test/native/border.test.ts).
template <typename Use>
void ForEachStat(const EngineStats& stats, Use use) {
  const auto tier = [](Tier tier) { return static_cast<size_t>(tier); };
  const auto set = [&](const char* name, auto value) { use(name, static_cast<double>(value)); };
  const ScorerStats& scorer = stats.scorer;
  const CacheStats& cache = scorer.cache;
  set("queuedRequests", stats.queued_requests);
  set("runningRequests", stats.running_requests);
  set("queuedTokens", stats.queued_tokens);
  set("backlogMs", stats.backlog_ms);
  set("answered", stats.answered);
  set("cancelled", stats.cancelled);
  set("expired", stats.expired);
  set("refused", stats.refused);
  set("failed", stats.failed);
  set("notFiniteInRow", stats.not_finite_in_row);
  set("steps", scorer.steps);
  set("capacityTokens", scorer.capacity_tokens);
  set("busyMs", scorer.busy_ms);
  set("evaluatedTokens", scorer.evaluated_tokens);
  set("paddingTokens", scorer.padding_tokens);
  set("lostTokens", scorer.lost_tokens);
  set("tokensPerSecond", scorer.tokens_per_second);
  set("promptTokens", stats.prompt_tokens);
  set("deviceCachedTokens", stats.cached_tokens[tier(Tier::kDevice)]);
  set("hostCachedTokens", stats.cached_tokens[tier(Tier::kHost)]);
  set("diskCachedTokens", stats.cached_tokens[tier(Tier::kDisk)]);
  set("deviceHits", stats.hits[tier(Tier::kDevice)]);
  set("hostHits", stats.hits[tier(Tier::kHost)]);
  set("diskHits", stats.hits[tier(Tier::kDisk)]);
  set("missed", stats.hits[tier(Tier::kNone)]);
  set("deviceCells", cache.device_cells);
  set("deviceCellsUsed", cache.device_cells_used);
  set("deviceCellsIdle", cache.device_cells_idle);
  set("devicePrefixes", cache.device_prefixes);
  set("hostBytes", cache.host_bytes);
  set("hostBytesLimit", cache.host_bytes_limit);
  set("hostPrefixes", cache.host_prefixes);
  set("diskBytes", cache.disk_bytes);
  set("diskBytesLimit", cache.disk_bytes_limit);
  set("diskPrefixes", cache.disk_prefixes);
  set("readoutBytes", scorer.readout_bytes);
  set("submitMs", scorer.submit_ms);
  set("stepsAhead", scorer.steps_ahead);
  set("graphsReused", scorer.graphs_reused);
  set("readPairs", scorer.read_pairs);
  set("seenPairs", scorer.seen_pairs);
}

}  // namespace oi
