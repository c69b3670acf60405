#include "parts_plan.h"

#include <algorithm>
#include <optional>

#include "../../machine/available_bytes.h"
#include "../model.h"
#include "memory.h"

namespace oi {
namespace {

constexpr uint32_t kForks = 64;
constexpr uint32_t kPrefixes = 32;    // that are read at once
constexpr uint32_t kSequences = 255;  // states that are kept
constexpr uint32_t kContextTokens = 8192;
constexpr uint32_t kMinContextTokens = 2048;
constexpr uint32_t kMicrobatchTokens = 512;
constexpr uint32_t kFewThreads = 8;
constexpr uint32_t kFewThreadsStep = 192;

}  // namespace

ContextPlan PlanForParts(const Model& model, const EngineOptions& options, ContextPlan plan) {
  plan.max_forks = options.max_forks != 0 ? options.max_forks : kForks;
  plan.max_prefixes = kPrefixes;
  plan.sequences = kSequences;
  plan.reads_states = true;
  const std::optional<uint64_t> available = AvailableBytes();
  const ContextCost cost = CostOfContext(model, options.cache_type);
  const auto bytes = [&](uint32_t tokens) { return cost.Bytes(tokens, plan.sequences); };
  const auto positions = static_cast<uint32_t>(model.prefix()->positions());
  plan.context_tokens = options.context_tokens;
  if (plan.context_tokens == 0) {
    plan.context_tokens = std::max(kContextTokens, positions);
    // A default leaves most of the memory to other processes.
    while (available && plan.context_tokens > kMinContextTokens &&
           bytes(plan.context_tokens) > *available / 4) {
      plan.context_tokens /= 2;
    }
  }
  plan.step_tokens = options.microbatch_tokens != 0 ? options.microbatch_tokens : kMicrobatchTokens;
  // What exceeds a step by a little ends in it (step_tokens.h).
  plan.microbatch_tokens = plan.step_tokens + plan.step_tokens / 4;
  plan.batch_tokens = plan.microbatch_tokens;
  plan.shared_step_tokens =
      plan.threads <= kFewThreads ? std::min(kFewThreadsStep, plan.step_tokens) : plan.step_tokens;
  plan.idle_tokens = plan.context_tokens;
  plan.busy_tokens = plan.context_tokens;
  plan.save_after = 1;
  plan.context_bytes = bytes(plan.context_tokens);
  SetOuterTiers(plan, options, model,
                available && *available > plan.context_bytes ? *available - plan.context_bytes : 0);
  return plan;
}

}  // namespace oi
