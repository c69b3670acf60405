// Making a llama_context: sizes chosen, memory checked, thread pool attached.

#pragma once

#include <cstdint>
#include <optional>

#include "../kernels/kernels.h"
#include "../threads/crew.h"
#include "types.h"

struct llama_context;

namespace oi {

class Model;

struct ContextPlan {
  uint32_t context_tokens;
  uint32_t max_forks;
  uint32_t max_prefixes;
  uint32_t sequences;    // of prefixes and forks; one more fills microbatches up
  uint32_t spare_cells;  // besides the context's tokens, for what fills steps up
  uint32_t batch_tokens;
  uint32_t microbatch_tokens;
  uint32_t step_tokens;         // of one llama_decode at most
  uint32_t shared_step_tokens;  // the same, where another workspace may be waiting for its end
  uint32_t threads;
  FlashAttention flash_attention;  // kAuto: llama.cpp decides, by what the backend can do
  uint32_t min_rows;               // tokens of a microbatch at least (step.h, rule 3), or 0
  uint32_t idle_tokens;            // of prefixes that nobody uses (state_cache.h, rule 2)
  uint32_t busy_tokens;            // the same, beside a new one
  uint32_t save_after;             // requests that make a prefix worth a place in the host tier
  bool outer_tiers;                // whether states are kept outside (state_cache.h, rule 5)
  uint64_t host_bytes;
  uint64_t context_bytes;  // cells, states, and the scores of plain attention
};

// Fills in what the options leave open, for this model on this machine. Throws EngineError
// ERR_MODEL_MEMORY if the context would not fit. `whole_images`: each of them goes into one
// microbatch.
ContextPlan PlanContext(const Model& model, const EngineOptions& options, uint32_t default_threads,
                        bool whole_images);

class Context {
 public:
  // `abort` is polled inside llama_decode with `abort_data` (CPU only). Throws EngineError
  // ERR_MODEL_MEMORY or ERR_MODEL_UNSUPPORTED.
  Context(const Model& model, const EngineOptions& options, const ContextPlan& plan,
          bool (*abort)(void*), void* abort_data);
  ~Context();

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  llama_context* get() const { return context_; }
  // Whether all attention so far was computed by our own kernels, which have no need of min_rows.
  bool own_attention() const { return kernels_->takes_all_attention(); }
  // From now on, fewer threads may compute: their number changes no bit that matters.
  void AdaptThreads();

 private:
  llama_context* context_;
  std::optional<Crew> crew_;
  std::optional<kernels::PoolScope> kernels_;
};

}  // namespace oi
