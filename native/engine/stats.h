// What the engine's side of one model has done since it was opened. src/engine/types.ts,
// EngineStats, says what each one means; the scheduler adds its own.

#pragma once

#include <cstddef>
#include <cstdint>

namespace oi {

enum class Tier { kNone, kDevice, kHost, kDisk };
constexpr size_t kTiers = 4;

struct CacheStats {
  size_t device_cells = 0;
  size_t device_cells_used = 0;
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
  uint64_t graphs_reused = 0;
  double busy_ms = 0;
  double tokens_per_second = 0;
  CacheStats cache;
};

struct EngineStats {
  ScorerStats scorer;
  uint64_t queued_requests = 0;
  double queued_tokens = 0;
  double backlog_ms = 0;
  uint64_t answered = 0;
  uint64_t cancelled = 0;
  uint64_t expired = 0;
  uint64_t refused = 0;
  uint64_t failed = 0;
  uint64_t prompt_tokens = 0;
  uint64_t cached_tokens[kTiers] = {};  // of answered requests, by tier; the first is unused
  uint64_t hits[kTiers] = {};           // answered requests, by their best tier
};

}  // namespace oi
