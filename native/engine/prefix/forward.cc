#include "forward.h"

#include <utility>

#include "../model.h"
#include "graph_forward.h"
#include "kernel_forward.h"
#include "prefix_weights.h"

namespace oi {

std::unique_ptr<Forward> MakeForward(const Model& model, const EngineOptions& options,
                                     const ContextPlan& plan, Abort abort) {
  const PrefixWeights weights = FindPrefixWeights(model);
  if (model.kernels() && model.on_cpu()) {
    if (auto fused = KernelForward::Make(weights, options, plan, abort)) return fused;
  }
  return std::make_unique<GraphForward>(model, weights, options, plan, std::move(abort));
}

}  // namespace oi
