// Plans the sizes of a context: for a CPU, for GPUs, and for models whose hidden states are read.

#pragma once

#include <cstdint>

#include "../types.h"

struct llama_context_params;

namespace oi {

class Model;

struct ContextPlan {
  uint32_t context_tokens;
  uint32_t max_forks;
  uint32_t max_prefixes;
  uint32_t sequences;    // of prefixes and forks
  uint32_t fillers;      // sequences that fill steps up; with more than one, steps have few shapes
  uint32_t spare_cells;  // besides the context's tokens, for what fills steps up
  uint32_t batch_tokens;
  uint32_t microbatch_tokens;
  uint32_t step_tokens;         // of one llama_decode at most
  uint32_t shared_step_tokens;  // the same, where another workspace may be waiting for its end
  double step_ms;               // what a step may take by prediction; 0: its tokens alone count
  uint32_t threads;
  FlashAttention flash_attention;  // kAuto: llama.cpp decides, by what the backend can do
  uint32_t min_rows;               // tokens of a microbatch at least (step.h, rule 3), or 0
  uint32_t idle_tokens;            // of prefixes that nobody uses (cache/state_cache.h, rule 2)
  uint32_t busy_tokens;            // the same, beside a new one, in a step of
  uint32_t busy_step;              // so many tokens
  uint32_t save_after;             // requests that make a prefix worth a place in the host tier
  bool outer_tiers;                // whether states are kept outside (cache/state_cache.h, rule 5)
  uint64_t host_bytes;
  uint64_t context_bytes;  // cells, states, and the scores of plain attention
  bool reads_states;       // hidden states tell the answers: every token has an output
  bool keeps_cells;        // a decoder's
};

// Fills in what the options leave open. Throws EngineError ERR_MODEL_MEMORY if the context would
// not fit into RAM; for GPUs, gpu_plan.h has seen to that. `whole_images`: each of them goes into
// one microbatch.
ContextPlan PlanContext(const Model& model, const EngineOptions& options, uint32_t default_threads,
                        bool whole_images);

// How much of the memory that is left the tiers outside of the context may take.
void SetOuterTiers(ContextPlan& plan, const EngineOptions& options, const Model& model,
                   uint64_t left_bytes);

// What llama.cpp is asked for.
llama_context_params ParamsOf(const ContextPlan& plan, const EngineOptions& options);

}  // namespace oi
