// Making a llama_context: sizes chosen, memory checked, thread pool attached.

#pragma once

#include <cstdint>

#include "types.h"

struct ggml_threadpool;
struct llama_context;

namespace oi {

class Model;

struct ContextPlan {
  uint32_t context_tokens;
  uint32_t max_forks;
  uint32_t batch_tokens;
  uint32_t microbatch_tokens;
  uint32_t threads;
  FlashAttention flash_attention;  // kAuto: llama.cpp decides, by what the backend can do
  uint32_t min_rows;               // tokens of a microbatch at least (scorer.h, rule 5), or 0
  uint64_t context_bytes;          // cells, states, and the scores of plain attention
};

// Fills in what the options leave open, for this model on this machine. Throws EngineError
// ERR_MODEL_MEMORY if the context would not fit.
ContextPlan PlanContext(const Model& model, const EngineOptions& options, uint32_t default_threads);

// `abort` is polled inside llama_decode with `abort_data` (CPU only). The caller frees both.
struct Context {
  llama_context* context;
  ggml_threadpool* pool;
};
Context MakeContext(const Model& model, const EngineOptions& options, const ContextPlan& plan,
                    bool (*abort)(void*), void* abort_data);
void FreeContext(const Context& context);

}  // namespace oi
