// Decides where the weights of a model go, and in which form, before they are loaded.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "../types.h"

namespace oi {

struct LoadPlan {
  EngineOptions options;             // with what was chosen
  std::vector<Placement> placement;  // of a model for GPUs; else empty
  std::vector<std::string> notes;    // for people: what differs from what was asked for
};

// Throws EngineError: ERR_INVALID_ARGUMENT (there is no such device), ERR_MODEL_MEMORY, and what
// loading the model throws.
LoadPlan PlanLoad(const EngineOptions& options, uint32_t default_threads,
                  const std::atomic<bool>& stop);

}  // namespace oi
