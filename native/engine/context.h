// A llama_context of planned sizes, with its thread pool.

#pragma once

#include <memory>
#include <optional>

#include "../kernels/kernels.h"
#include "../threads/crew.h"
#include "log.h"
#include "plan/context_plan.h"
#include "types.h"

struct llama_context;

namespace oi {

class Model;

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
  // The memory of its cells and buffers, as llama.cpp logged it.
  const LoggedMemory& memory() const { return memory_; }
  // Whether all attention so far was computed by our own kernels, which have no need of min_rows.
  bool own_attention() const { return kernels_->takes_all_attention(); }
  // Whether all results so far have the same bits in any company (kernels.h).
  bool invariant() const { return knows_order_ && kernels_->invariant(); }
  // From now on fewer threads may compute, as their number changes no bit of an answer.
  void AdaptThreads();

 private:
  llama_context* context_;
  LoggedMemory memory_;
  std::optional<Crew> crew_;
  std::unique_ptr<kernels::CellOrder> order_;
  bool knows_order_ = false;  // of all cells; false where any lie elsewhere
  std::optional<kernels::PoolScope> kernels_;
};

}  // namespace oi
