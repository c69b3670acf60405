#include <algorithm>

#include "../model.h"
#include "context_plan.h"

namespace oi {
namespace {

// The host tier's default: this part of the memory that is left, and at most so much.
constexpr uint64_t kHostShare = 8;
constexpr uint64_t kMaxHostBytes = 4ull << 30;

}  // namespace

void SetOuterTiers(ContextPlan& plan, const EngineOptions& options, const Model& model,
                   uint64_t left_bytes) {
  plan.outer_tiers = !options.deterministic || model.window() == 0;
  plan.host_bytes = !plan.outer_tiers         ? 0
                    : options.host_bytes >= 0 ? static_cast<uint64_t>(options.host_bytes)
                                              : std::min(kMaxHostBytes, left_bytes / kHostShare);
}

}  // namespace oi
