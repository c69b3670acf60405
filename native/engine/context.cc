#include "context.h"

#include <string>

#include "../threads/graphs.h"
#include "cache/cell_order.h"
#include "error.h"
#include "llama.h"
#include "model.h"

namespace oi {

Context::Context(const Model& model, const EngineOptions& options, const ContextPlan& plan,
                 bool (*abort)(void*), void* abort_data) {
  llama_context_params params = ParamsOf(plan, options);
  params.abort_callback = abort;
  params.abort_callback_data = abort_data;

  const kernels::LoadScope use_kernels(model.kernels(), /*lock=*/false, model.exact_matmuls());
  ClearLog();
  context_ = llama_init_from_model(model.get(), params);
  if (context_ == nullptr) {
    const std::string reason = FirstLoggedError();
    throw EngineError("ERR_MODEL_MEMORY", "no context of " + std::to_string(plan.context_tokens) +
                                              " tokens could be made" +
                                              (reason.empty() ? "" : ": " + reason));
  }
  memory_ = MemoryLogged();
  if ((llama_get_memory(context_) != nullptr) != plan.keeps_cells) {
    llama_free(context_);
    throw EngineError("ERR_MODEL_UNSUPPORTED", plan.keeps_cells
                                                   ? "a model without a memory cannot share a state"
                                                   : "an encoder that keeps cells cannot be read");
  }
  // The pool lives as long as the context: without one, every decode starts and ends its threads.
  // llama.cpp's flash attention sums in as many parts as there are threads, so their number is
  // fixed where bits must not change.
  const bool same_bits = !options.deterministic || plan.flash_attention == FlashAttention::kOff;
  AdaptHere(!options.deterministic);
  crew_.emplace(plan.threads, same_bits);
  llama_attach_threadpool(context_, crew_->pool(), crew_->pool());
  order_ = CellOrderOf(context_);
  knows_order_ = model.on_cpu() && (order_ != nullptr || !plan.keeps_cells);
  kernels_.emplace(model.kernels() ? crew_->pool() : nullptr, order_.get());
}

void Context::AdaptThreads() { crew_->Adapt(); }

Context::~Context() {
  llama_detach_threadpool(context_);
  llama_free(context_);
}

}  // namespace oi
