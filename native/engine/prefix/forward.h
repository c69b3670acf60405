// One pass through the network for the parts of a step: fused on our kernels (kernel_forward.h), or
// a graph of ggml's operations on any device (graph_forward.h).

#pragma once

#include <functional>
#include <memory>

#include "../../kernels/parts_forward.h"
#include "../log.h"
#include "../plan/context_plan.h"
#include "../types.h"
#include "kept_cells.h"

namespace oi {

class Model;

// Parts with cells that are kept: those of their states, or their own.
struct ForwardStep : kernels::PartsStep {
  struct Kept {
    const KeptCells* state = nullptr;  // that its first level sees, if that is kept
    KeptCells* keep = nullptr;
  };
  std::vector<Kept> kept;  // of each part; `kept` and `keep` of kernels::StepPart are set by them

  void Clear() {
    tokens.clear();
    positions.clear();
    types.clear();
    parts.clear();
    outputs.clear();
    kept.clear();
  }
};

class Forward {
 public:
  virtual ~Forward() = default;

  // False if `abort` ended it. Throws EngineError ERR_ENGINE_INTERNAL, std::bad_alloc.
  virtual bool Run(ForwardStep& step) = 0;
  // Of the last step: the state of its output `index`.
  virtual const float* State(size_t index) const = 0;
  // Where cells are kept.
  virtual ggml_backend_buffer_type_t cell_memory() const = 0;
  // Whether a part's bits depend on it alone.
  virtual bool invariant() const = 0;
  // What it computes with.
  virtual LoggedMemory memory() const = 0;
};

using Abort = std::function<bool()>;

// On the kernels if the model's weights allow it.
std::unique_ptr<Forward> MakeForward(const Model& model, const EngineOptions& options,
                                     const ContextPlan& plan, Abort abort);

}  // namespace oi
