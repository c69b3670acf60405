#include "context.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "../machine/available_bytes.h"
#include "../threads/graphs.h"
#include "error.h"
#include "llama.h"
#include "log.h"
#include "memory.h"
#include "model.h"

namespace oi {
namespace {

// Sequence ids of llama.cpp end at 256; one fills microbatches up.
constexpr uint32_t kMaxSequences = 255;
constexpr uint32_t kMaxForks = kMaxSequences - 1;
constexpr uint32_t kFillers = 1;
// From this many queries on, flash attention on a CPU takes the kernel that sums in floats.
constexpr uint32_t kFlashRows = 64;
constexpr uint32_t kPad = 256;  // to which llama.cpp rounds a context up
constexpr uint32_t kDenseForks = 64;
constexpr uint32_t kDensePrefixes = 32;
// Each sequence of a recurrent model holds a state of its own, tens of megabytes for a 4B model.
constexpr uint32_t kRecurrentForks = 16;
constexpr uint32_t kRecurrentPrefixes = 4;
constexpr uint32_t kBatchTokens = 2048;
constexpr uint32_t kMicrobatchTokens = 512;
constexpr uint32_t kContextTokens = 8192;
constexpr uint32_t kMinContextTokens = 2048;
// On a few cores a step of 192 tokens runs at the rate of one of 512 or a little above it: more
// columns leave the caches (README, "What makes it fast"). And whoever comes next waits less. A
// multiple of 64, the tile of flash attention. The microbatch leaves room for what fills a step.
constexpr uint32_t kFewThreads = 8;
constexpr uint32_t kFewThreadsStep = 192;
constexpr uint32_t kFewThreadsMicrobatch = 256;
// Beside others, the wait for a step that runs counts more than the tenth that this costs.
constexpr uint32_t kFewThreadsSharedStep = 64;
// Of the memory that is left, and at most: what the host tier takes unless told.
constexpr uint64_t kHostShare = 8;
constexpr uint64_t kMaxHostBytes = 4ull << 30;

std::string Gigabytes(uint64_t bytes) {
  const uint64_t tenths = (bytes * 10 + (1ull << 29)) >> 30;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
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

// Plain attention writes its scores out: per microbatch one float for each query, head and
// cell of the context.
uint64_t ScoreBytes(const Model& model, const ContextPlan& plan) {
  return sizeof(float) * static_cast<uint64_t>(plan.context_tokens) * plan.microbatch_tokens *
         static_cast<uint64_t>(llama_model_n_head(model.get()));
}

// On a CPU, dense models: flash attention, which skips what the mask hides and was a quarter
// faster for prefixes and packed questions (benchmark layer `engine`). Hybrid and recurrent
// models: their microbatches hold equally long pieces, often few tokens, for which plain
// attention is faster and exact; it costs memory, so a large context goes without.
FlashAttention ChooseAttention(const Model& model, const EngineOptions& options,
                               uint64_t score_bytes, std::optional<uint64_t> available) {
  if (options.flash_attention != FlashAttention::kAuto) return options.flash_attention;
  if (!model.on_cpu() || !model.recurrent()) return FlashAttention::kAuto;
  return !available || score_bytes <= *available / 8 ? FlashAttention::kOff : FlashAttention::kAuto;
}

}  // namespace

ContextPlan PlanContext(const Model& model, const EngineOptions& options, uint32_t default_threads,
                        bool whole_images) {
  ContextPlan plan{};
  plan.threads = options.threads != 0 ? options.threads : default_threads;
  plan.max_forks = options.max_forks != 0 ? std::min(options.max_forks, kMaxForks)
                   : model.recurrent()    ? kRecurrentForks
                                          : kDenseForks;
  plan.max_prefixes = std::min(model.recurrent() ? kRecurrentPrefixes : kDensePrefixes,
                               kMaxSequences - plan.max_forks);
  plan.sequences = plan.max_forks + plan.max_prefixes;
  plan.spare_cells = kPad;
  const ContextCost cost = CostOfContext(model, options.cache_type);
  const auto bytes = [&](uint32_t tokens) { return cost.Bytes(tokens, plan.sequences + kFillers); };
  const std::optional<uint64_t> available = AvailableBytes();

  if (options.context_tokens != 0) {
    plan.context_tokens = options.context_tokens;
  } else {
    const int32_t trained = llama_model_n_ctx_train(model.get());
    plan.context_tokens =
        std::min(kContextTokens, trained > 0 ? static_cast<uint32_t>(trained) : kContextTokens);
    // A default leaves most of the memory to others.
    while (available && plan.context_tokens > kMinContextTokens &&
           bytes(plan.context_tokens) > *available / 4) {
      plan.context_tokens /= 2;
    }
  }
  plan.context_tokens = (std::min(plan.context_tokens, UINT32_MAX - kPad) + kPad - 1) / kPad * kPad;
  plan.batch_tokens = std::min(options.batch_tokens != 0 ? options.batch_tokens : kBatchTokens,
                               plan.context_tokens);
  const bool few = model.on_cpu() && plan.threads <= kFewThreads;
  plan.microbatch_tokens = std::min(options.microbatch_tokens != 0 ? options.microbatch_tokens
                                    : whole_images                 ? plan.batch_tokens
                                    : few                          ? kFewThreadsMicrobatch
                                                                   : kMicrobatchTokens,
                                    plan.batch_tokens);
  // Whole microbatches, so that filling the last one up (step.h, rule 3) never exceeds a batch.
  plan.batch_tokens -= plan.batch_tokens % plan.microbatch_tokens;
  const uint64_t score_bytes = ScoreBytes(model, plan);
  plan.flash_attention = ChooseAttention(model, options, score_bytes, available);
  if (model.on_cpu() && !model.recurrent() && plan.flash_attention != FlashAttention::kOff &&
      plan.microbatch_tokens >= kFlashRows) {
    plan.min_rows = kFlashRows;
  }
  plan.step_tokens = !model.on_cpu() ? plan.batch_tokens
                     : few && options.microbatch_tokens == 0
                         ? std::min(kFewThreadsStep, plan.microbatch_tokens)
                         : plan.microbatch_tokens;
  plan.shared_step_tokens = few && !options.deterministic
                                ? std::min(kFewThreadsSharedStep, plan.step_tokens)
                                : plan.step_tokens;
  // A GPU has its cells for itself; on a CPU each one costs every step a little, and bringing a
  // prefix back from the host tier costs a hundredth of evaluating it.
  // Plain attention pays for them in full.
  plan.idle_tokens = !model.on_cpu()                                ? plan.context_tokens
                     : plan.flash_attention == FlashAttention::kOff ? plan.context_tokens / 16
                                                                    : plan.context_tokens / 4;
  plan.save_after = model.on_cpu() ? 1 : 2;
  plan.context_bytes =
      bytes(plan.context_tokens) + (plan.flash_attention == FlashAttention::kOff ? score_bytes : 0);
  if (available && plan.context_bytes > *available) {
    throw EngineError("ERR_MODEL_MEMORY",
                      "a context of " + std::to_string(plan.context_tokens) + " tokens and " +
                          std::to_string(plan.max_forks) + " forks needs " +
                          Gigabytes(plan.context_bytes) + ", " + Gigabytes(*available) +
                          " are available; choose fewer context tokens or forks");
  }
  const uint64_t left = available ? *available - plan.context_bytes : 0;
  plan.outer_tiers = !options.deterministic || model.window() == 0;
  plan.host_bytes = !plan.outer_tiers         ? 0
                    : options.host_bytes >= 0 ? static_cast<uint64_t>(options.host_bytes)
                                              : std::min(kMaxHostBytes, left / kHostShare);
  // 2,048 idle cells made a new request a quarter slower (benchmark layer `engine`).
  plan.busy_tokens =
      model.on_cpu() && plan.host_bytes > 0 ? std::min(kPad, plan.idle_tokens) : plan.idle_tokens;
  return plan;
}

Context::Context(const Model& model, const EngineOptions& options, const ContextPlan& plan,
                 bool (*abort)(void*), void* abort_data) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = plan.context_tokens + plan.spare_cells;
  params.n_batch = plan.batch_tokens;
  params.n_ubatch = plan.microbatch_tokens;
  params.n_seq_max = plan.sequences + kFillers;
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
  params.abort_callback = abort;
  params.abort_callback_data = abort_data;

  const kernels::LoadScope use_kernels(options.kernels);
  ClearLog();
  context_ = llama_init_from_model(model.get(), params);
  if (context_ == nullptr) {
    const std::string reason = FirstLoggedError();
    throw EngineError("ERR_MODEL_MEMORY", "no context of " + std::to_string(plan.context_tokens) +
                                              " tokens could be made" +
                                              (reason.empty() ? "" : ": " + reason));
  }
  if (llama_get_memory(context_) == nullptr) {
    llama_free(context_);
    throw EngineError("ERR_MODEL_UNSUPPORTED", "a model without a memory cannot share a state");
  }
  // For the context's life. Without a pool every decode starts and ends its threads.
  // Flash attention of llama.cpp sums in parts, as many as there are threads.
  const bool same_bits = !options.deterministic || plan.flash_attention == FlashAttention::kOff;
  AdaptHere(!options.deterministic);
  crew_.emplace(plan.threads, same_bits);
  llama_attach_threadpool(context_, crew_->pool(), crew_->pool());
  kernels_.emplace(options.kernels ? crew_->pool() : nullptr);
}

void Context::AdaptThreads() { crew_->Adapt(); }

Context::~Context() {
  llama_detach_threadpool(context_);
  llama_free(context_);
}

}  // namespace oi
