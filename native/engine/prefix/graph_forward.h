// The pass as a graph of ggml's operations, for devices, and for CPUs and weights without kernels.
//
// Attention is computed for a state in pieces of its rows, and for whole questions with their
// options, some of the same state together: a mask hides these from each other.

#pragma once

#include <memory>
#include <vector>

#include "../../kernels/kernels.h"
#include "../../threads/crew.h"
#include "forward.h"
#include "ggml-backend.h"
#include "prefix_weights.h"

namespace oi {

class GraphForward final : public Forward {
 public:
  // Throws EngineError ERR_MODEL_MEMORY.
  GraphForward(const Model& model, const PrefixWeights& weights, const EngineOptions& options,
               const ContextPlan& plan, Abort abort);
  ~GraphForward() override;

  bool Run(ForwardStep& step) override;
  const float* State(size_t index) const override {
    return states_.data() + index * weights_.width;
  }
  ggml_backend_buffer_type_t cell_memory() const override;
  bool invariant() const override { return false; }
  LoggedMemory memory() const override;

 private:
  static bool OnAbort(void* self);

  const PrefixWeights weights_;
  const ggml_type cell_type_;
  const Abort abort_;
  bool aborted_ = false;
  Crew crew_;
  const kernels::PoolScope kernels_;
  std::vector<ggml_backend_t> backends_;  // the CPU's last
  ggml_backend_sched_t scheduler_ = nullptr;
  std::vector<uint8_t> graph_memory_;
  std::vector<float> states_;
};

}  // namespace oi
