// What a context's plan says of the cache of its states.

#pragma once

#include "../plan/context_plan.h"
#include "state_cache.h"

namespace oi {

inline StateCache::Options PlannedOptions(const ContextPlan& plan, const EngineOptions& options) {
  StateCache::Options cache{};
  cache.cells = plan.context_tokens;
  cache.sequences = static_cast<llama_seq_id>(plan.sequences);
  cache.max_pinned = plan.max_prefixes;
  cache.idle_cells = plan.idle_tokens;
  cache.busy_cells = plan.busy_tokens;
  cache.busy_step = plan.busy_step;
  cache.save_after = plan.save_after;
  cache.host_bytes = plan.host_bytes;
  if (plan.outer_tiers) cache.disk_folder = options.disk_folder;
  cache.disk_bytes = options.disk_bytes;
  return cache;
}

}  // namespace oi
