#include "context_plan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "../../machine/available_bytes.h"
#include "../batch.h"
#include "../error.h"
#include "../model.h"
#include "../shapes.h"
#include "llama.h"
#include "memory.h"
#include "parts_plan.h"
#include "placement.h"

namespace oi {
namespace {

// LLAMA_MAX_SEQ is 256; one sequence at least fills steps up.
constexpr uint32_t kMaxSequences = Batch::kMaxSequences - 1;
constexpr uint32_t kMinPrefixes = 8;
constexpr uint32_t kMaxForks = kMaxSequences - kMinPrefixes;
constexpr uint32_t kFillers = 1;
// From this many queries on, llama.cpp's flash attention on a CPU takes the kernel that sums in
// single precision.
constexpr uint32_t kFlashRows = 64;
constexpr uint32_t kPad = 256;  // llama.cpp rounds a context up to a multiple of it
constexpr uint32_t kBatchTokens = 2048;
constexpr uint32_t kMicrobatchTokens = 512;
constexpr uint32_t kContextTokens = 8192;
constexpr uint32_t kMinContextTokens = 2048;
constexpr uint32_t kPassTokens = 2048;
constexpr uint32_t kStatesMicrobatch = 128;
// On a few cores a step of 192 tokens runs at the rate of one of 512 or a little above it: more
// columns exceed the caches (native/README.md). And a newcomer waits less. A multiple of 64, the
// tile of flash attention. The microbatch leaves room for padding.
constexpr uint32_t kFewThreads = 8;
constexpr uint32_t kFewThreadsStep = 192;
constexpr uint32_t kFewThreadsMicrobatch = 256;
// With several workspaces, the wait for a step that runs counts more than the tenth of the rate
// that this costs.
constexpr uint32_t kFewThreadsSharedStep = 64;
// A full step of a large model on a small GPU takes half a second and more.
constexpr double kGpuStepMs = 50;

// Default numbers of sequences.
struct Sequences {
  uint32_t forks;
  uint32_t prefixes;
};
constexpr Sequences kDense{64, 32};
// Each sequence of a recurrent model holds a state of its own, tens of megabytes for a 4B model.
constexpr Sequences kRecurrent{16, 4};
// A GPU answers more questions at once, and its cells hold more prefixes.
constexpr Sequences kGpuDense{96, 64};
// Tokens of a GPU's step beside which idle states leave. In a short step their cells cost little;
// in a full one attention over 2,048 of them costs a 0.6B two fifths of its matmuls, and evaluating
// one of them again less than moving it to RAM and back.
constexpr uint32_t kGpuBusyStep = 512;

void SetSequences(ContextPlan& plan, const EngineOptions& options, const Sequences& standard) {
  plan.max_forks = options.max_forks != 0 ? std::min(options.max_forks, kMaxForks) : standard.forks;
  plan.max_prefixes = std::min(standard.prefixes, kMaxSequences - plan.max_forks);
  plan.sequences = plan.max_forks + plan.max_prefixes;
}

uint32_t RoundUp(uint32_t tokens) {
  return (std::min(tokens, UINT32_MAX - kPad) + kPad - 1) / kPad * kPad;
}

void SetBatches(ContextPlan& plan, const EngineOptions& options, uint32_t microbatch_tokens,
                bool whole_images) {
  plan.batch_tokens = std::min(options.batch_tokens != 0 ? options.batch_tokens : kBatchTokens,
                               plan.context_tokens);
  plan.microbatch_tokens = std::min(options.microbatch_tokens != 0 ? options.microbatch_tokens
                                    : whole_images                 ? plan.batch_tokens
                                                                   : microbatch_tokens,
                                    plan.batch_tokens);
  // Whole microbatches, so that filling the last one up (step.h, rule 3) never exceeds a batch.
  plan.batch_tokens -= plan.batch_tokens % plan.microbatch_tokens;
}

// Plain attention stores its scores: floats, [microbatch tokens][heads][cells].
uint64_t ScoreBytes(const Model& model, const ContextPlan& plan) {
  return sizeof(float) * static_cast<uint64_t>(plan.context_tokens) * plan.microbatch_tokens *
         static_cast<uint64_t>(llama_model_n_head(model.get()));
}

// The least rows of a microbatch (step.h, rule 3), where layers' attention runs on the CPU.
uint32_t MinRows(const Model& model, const ContextPlan& plan) {
  const bool needed = !model.recurrent() && plan.flash_attention != FlashAttention::kOff &&
                      plan.microbatch_tokens >= kFlashRows;
  return needed ? kFlashRows : 0;
}

// ---- CPU -------------------------------------------------------------------------

// Flash attention, which skips what the mask hides: ours is 2.5 times as fast for questions on a
// known state as plain attention, of a hybrid model. Hybrid and recurrent models without our
// kernels: their microbatches hold equally long pieces, often few tokens, for which plain attention
// is faster than llama.cpp's, and exact; it costs memory, so a large context goes without.
FlashAttention ChooseAttention(const Model& model, const EngineOptions& options,
                               uint64_t score_bytes, std::optional<uint64_t> available) {
  if (options.flash_attention != FlashAttention::kAuto) return options.flash_attention;
  if (!model.recurrent() || model.kernels()) return FlashAttention::kAuto;
  return !available || score_bytes <= *available / 8 ? FlashAttention::kOff : FlashAttention::kAuto;
}

ContextPlan PlanForCpu(const Model& model, const EngineOptions& options, ContextPlan plan,
                       bool whole_images) {
  SetSequences(plan, options, model.recurrent() ? kRecurrent : kDense);
  const ContextCost cost = CostOfContext(model, options.cache_type);
  const auto bytes = [&](uint32_t tokens) {
    return cost.Bytes(tokens, plan.sequences + plan.fillers);
  };
  const std::optional<uint64_t> available = AvailableBytes();

  if (options.context_tokens != 0) {
    plan.context_tokens = options.context_tokens;
  } else {
    const int32_t trained = llama_model_n_ctx_train(model.get());
    plan.context_tokens =
        std::min(kContextTokens, trained > 0 ? static_cast<uint32_t>(trained) : kContextTokens);
    // A default leaves most of the memory to other processes.
    while (available && plan.context_tokens > kMinContextTokens &&
           bytes(plan.context_tokens) > *available / 4) {
      plan.context_tokens /= 2;
    }
  }
  plan.context_tokens = RoundUp(plan.context_tokens);
  const bool few = plan.threads <= kFewThreads;
  SetBatches(plan, options, few ? kFewThreadsMicrobatch : kMicrobatchTokens, whole_images);
  const uint64_t score_bytes = ScoreBytes(model, plan);
  plan.flash_attention = ChooseAttention(model, options, score_bytes, available);
  plan.min_rows = MinRows(model, plan);
  plan.step_tokens = few && options.microbatch_tokens == 0
                         ? std::min(kFewThreadsStep, plan.microbatch_tokens)
                         : plan.microbatch_tokens;
  plan.shared_step_tokens = few && !options.deterministic
                                ? std::min(kFewThreadsSharedStep, plan.step_tokens)
                                : plan.step_tokens;
  // Each idle cell costs every step a little, with plain attention as much as one in use; restoring
  // a prefix from the host tier costs a hundredth of evaluating it.
  plan.idle_tokens = plan.flash_attention == FlashAttention::kOff ? plan.context_tokens / 16
                                                                  : plan.context_tokens / 4;
  plan.save_after = 1;
  plan.context_bytes =
      bytes(plan.context_tokens) + (plan.flash_attention == FlashAttention::kOff ? score_bytes : 0);
  if (available && plan.context_bytes > *available) {
    throw EngineError("ERR_MODEL_MEMORY",
                      "a context of " + std::to_string(plan.context_tokens) + " tokens and " +
                          std::to_string(plan.max_forks) + " forks needs " +
                          Gigabytes(plan.context_bytes) + ", " + Gigabytes(*available) +
                          " are available; choose fewer context tokens or forks");
  }
  SetOuterTiers(plan, options, model, available ? *available - plan.context_bytes : 0);
  // 2,048 idle cells made a new request a quarter slower (benchmark layer `engine`).
  plan.busy_tokens = plan.host_bytes > 0 ? std::min(kPad, plan.idle_tokens) : plan.idle_tokens;
  return plan;
}

// ---- hidden states ---------------------------------------------------------------

// On any device. An encoder's attention computes a score for each pair of tokens of a microbatch,
// whatever their passes, and a pass is one microbatch (encode/encoder.h, rule 2).
ContextPlan PlanForStates(const Model& model, const EngineOptions& options, ContextPlan plan) {
  SetSequences(plan, options, kDense);
  plan.reads_states = true;
  plan.keeps_cells = model.hidden()->causal();
  plan.context_tokens = options.context_tokens != 0 ? options.context_tokens : kPassTokens;
  const auto positions = static_cast<uint32_t>(model.hidden()->positions());
  if (positions > 0) plan.context_tokens = std::min(plan.context_tokens, positions);
  plan.step_tokens = options.microbatch_tokens != 0 ? options.microbatch_tokens : kMicrobatchTokens;
  plan.microbatch_tokens = std::max(plan.context_tokens, plan.step_tokens);
  if (plan.keeps_cells) {
    // llama.cpp computes logits of all tokens with the states, so a microbatch is small. Cells are
    // there for a whole step.
    plan.spare_cells = plan.microbatch_tokens - plan.context_tokens + kPad;
    plan.microbatch_tokens = std::min(kStatesMicrobatch, plan.microbatch_tokens);
  }
  plan.batch_tokens = plan.microbatch_tokens;
  plan.shared_step_tokens = plan.threads <= kFewThreads && !options.deterministic
                                ? std::min(kFewThreadsStep, plan.step_tokens)
                                : plan.step_tokens;
  plan.flash_attention = options.flash_attention;
  const bool scores = plan.flash_attention == FlashAttention::kOff;
  plan.context_bytes = scores ? ScoreBytes(model, plan) : 0;
  if (plan.keeps_cells) {
    plan.context_bytes += CostOfContext(model, options.cache_type)
                              .Bytes(plan.context_tokens + plan.spare_cells, plan.sequences);
  }
  return plan;
}

// ---- GPU -------------------------------------------------------------------------

// PlanForGpus() has filled its sizes in (gpu_plan.h). Layers for which it has no room are the
// CPU's.
ContextPlan PlanForGpu(const Model& model, const EngineOptions& options, ContextPlan plan,
                       bool whole_images) {
  SetSequences(plan, options, model.recurrent() ? kRecurrent : kGpuDense);
  plan.context_tokens =
      RoundUp(options.context_tokens != 0 ? options.context_tokens : kContextTokens);
  // CUDA's attention skips masked blocks from 1,024 queries on.
  SetBatches(plan, options, kBatchTokens, whole_images);
  plan.flash_attention = options.flash_attention;
  if (model.layers_on_cpu()) plan.min_rows = MinRows(model, plan);
  plan.step_tokens = model.layers_on_cpu() ? plan.microbatch_tokens : plan.batch_tokens;
  plan.shared_step_tokens = plan.step_tokens;
  if (!options.deterministic && !model.on_cpu()) plan.step_ms = kGpuStepMs;
  if (!options.deterministic && !model.recurrent()) {
    plan.fillers = std::min<uint32_t>(Shapes::kSequences, Batch::kMaxSequences - plan.sequences);
    plan.spare_cells += RoundUp(plan.microbatch_tokens / 8);
  }
  // Attention reads each cell up to the highest one in use, whichever sequence has it.
  plan.idle_tokens =
      std::min(plan.context_tokens, std::max(kContextTokens, plan.context_tokens / 4));
  plan.busy_tokens = options.deterministic ? plan.idle_tokens : std::min(kPad, plan.idle_tokens);
  plan.busy_step = kGpuBusyStep;
  // Moving a prefix out costs a transfer for which nobody may ever ask again. In deterministic mode
  // the context holds one: two states in turn would never be found.
  plan.save_after = options.deterministic ? 1 : 2;
  const ContextCost cost = CostOfContext(model, options.cache_type);
  plan.context_bytes = cost.Bytes(plan.context_tokens, plan.sequences + plan.fillers);
  SetOuterTiers(plan, options, model, AvailableBytes().value_or(0));
  return plan;
}

llama_flash_attn_type FlashType(FlashAttention flash) {
  switch (flash) {
    case FlashAttention::kOn:
      return LLAMA_FLASH_ATTN_TYPE_ENABLED;
    case FlashAttention::kOff:
      return LLAMA_FLASH_ATTN_TYPE_DISABLED;
    case FlashAttention::kAuto:
      break;
  }
  return LLAMA_FLASH_ATTN_TYPE_AUTO;
}

}  // namespace

ContextPlan PlanContext(const Model& model, const EngineOptions& options, uint32_t default_threads,
                        bool whole_images) {
  ContextPlan plan{};
  plan.threads = options.threads != 0 ? options.threads : default_threads;
  plan.fillers = kFillers;
  if (model.prefix() != nullptr) return PlanForParts(model, options, plan);
  if (model.hidden() != nullptr) return PlanForStates(model, options, plan);
  plan.keeps_cells = true;
  plan.spare_cells = kPad;
  // Tests choose a GPU's.
  const char* const chosen = std::getenv("OI_TEST_PLAN");
  const bool for_gpu = chosen != nullptr && std::strcmp(chosen, "gpu") == 0;
  return model.on_cpu() && !for_gpu ? PlanForCpu(model, options, plan, whole_images)
                                    : PlanForGpu(model, options, plan, whole_images);
}

llama_context_params ParamsOf(const ContextPlan& plan, const EngineOptions& options) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = plan.context_tokens + plan.spare_cells;
  params.n_batch = plan.batch_tokens;
  params.n_ubatch = plan.microbatch_tokens;
  params.n_seq_max = plan.sequences + plan.fillers;
  // Only a question's last token has an output: without this, buffers for a whole batch of
  // vocabulary-sized rows are reserved. llama.cpp asserts that it is at least n_seq_max.
  params.n_outputs_max = params.n_seq_max;
  params.n_threads = static_cast<int32_t>(plan.threads);
  params.n_threads_batch = static_cast<int32_t>(plan.threads);
  params.flash_attn_type = FlashType(plan.flash_attention);
  params.type_k = CacheGgmlType(options.cache_type);
  params.type_v = CacheGgmlType(options.cache_type);
  params.attention_type = LLAMA_ATTENTION_TYPE_CAUSAL;
  params.pooling_type = LLAMA_POOLING_TYPE_NONE;
  params.embeddings = false;  // would make every token an output
  params.no_perf = true;
  params.kv_unified = true;  // forks share cells
  params.swa_full = true;    // a resident prefix keeps all its cells
  if (plan.reads_states) {
    params.n_outputs_max = std::max(plan.microbatch_tokens, params.n_seq_max);
    params.attention_type = LLAMA_ATTENTION_TYPE_UNSPECIFIED;  // as the model says
    params.embeddings = true;
  }
  return params;
}

}  // namespace oi
