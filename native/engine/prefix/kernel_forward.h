// The fused pass (../../kernels/parts_forward.h), on the threads of a crew.

#pragma once

#include <memory>

#include "../../threads/crew.h"
#include "forward.h"
#include "prefix_weights.h"

namespace oi {

class KernelForward final : public Forward {
 public:
  // Null if some weights have no kernel.
  static std::unique_ptr<Forward> Make(const PrefixWeights& weights, const EngineOptions& options,
                                       const ContextPlan& plan, Abort abort);
  ~KernelForward() override;

  bool Run(ForwardStep& step) override;
  const float* State(size_t index) const override { return forward_.states() + index * width_; }
  ggml_backend_buffer_type_t cell_memory() const override;
  bool invariant() const override { return true; }
  LoggedMemory memory() const override { return {}; }

 private:
  KernelForward(const kernels::PartsWeights& weights, kernels::CacheFormat format, uint32_t threads,
                Abort abort);

  static void Compute(ggml_tensor* node, int thread, int threads, void* self);
  static bool OnAbort(void* self);

  const size_t width_;
  const uint32_t threads_;
  const Abort abort_;
  kernels::PartsForward forward_;
  Crew crew_;
  ggml_context* const context_;
  ggml_tensor* node_;
  ggml_cgraph* graph_;
};

}  // namespace oi
