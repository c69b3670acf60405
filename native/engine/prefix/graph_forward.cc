#include "graph_forward.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "../../threads/graphs.h"
#include "../error.h"
#include "../model.h"
#include "../plan/memory.h"
#include "ggml-cpu.h"
#include "graph_builder.h"

namespace oi {
namespace {

// More than GraphBuilder makes.
size_t NodesOf(const PrefixWeights& weights, const ForwardStep& step, size_t pieces) {
  return 64 + pieces + weights.layers.size() * (48 + 32 * pieces + 6 * step.parts.size());
}

template <typename T>
void Set(ggml_tensor* input, const std::vector<T>& values) {
  ggml_backend_tensor_set(input, values.data(), 0, values.size() * sizeof(T));
}

}  // namespace

GraphForward::GraphForward(const Model& model, const PrefixWeights& weights,
                           const EngineOptions& options, const ContextPlan& plan, Abort abort)
    : weights_(weights),
      cell_type_(CacheGgmlType(options.cache_type)),
      abort_(std::move(abort)),
      crew_(plan.threads, !options.deterministic),
      kernels_(model.kernels() ? crew_.pool() : nullptr, nullptr) {
  AdaptHere(!options.deterministic);
  const kernels::LoadScope use_kernels(model.kernels(), /*lock=*/false, model.exact_matmuls());
  for (ggml_backend_dev_t gpu : model.gpus())
    backends_.push_back(ggml_backend_dev_init(gpu, nullptr));
  backends_.push_back(ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, nullptr));
  if (std::find(backends_.begin(), backends_.end(), nullptr) != backends_.end()) {
    throw EngineError("ERR_MODEL_MEMORY", "a device could not be used");
  }
  ggml_backend_t cpu = backends_.back();
  ggml_backend_cpu_set_n_threads(cpu, static_cast<int>(plan.threads));
  ggml_backend_cpu_set_threadpool(cpu, crew_.pool());
  ggml_backend_cpu_set_abort_callback(cpu, &GraphForward::OnAbort, this);
}

GraphForward::~GraphForward() {
  ggml_backend_sched_free(scheduler_);
  for (ggml_backend_t backend : backends_) ggml_backend_free(backend);
}

ggml_backend_buffer_type_t GraphForward::cell_memory() const {
  return ggml_backend_get_default_buffer_type(backends_.front());
}

LoggedMemory GraphForward::memory() const { return {}; }

bool GraphForward::OnAbort(void* self) {
  auto* my = static_cast<GraphForward*>(self);
  my->aborted_ = my->aborted_ || my->abort_();
  return my->aborted_;
}

bool GraphForward::Run(ForwardStep& step) {
  aborted_ = false;
  const std::vector<GraphPiece> pieces = PiecesOf(step);
  const size_t nodes = NodesOf(weights_, step, pieces.size());
  const size_t bytes = nodes * ggml_tensor_overhead() + ggml_graph_overhead_custom(nodes, false);
  if (bytes > graph_memory_.size()) {
    ggml_backend_sched_free(std::exchange(scheduler_, nullptr));
    graph_memory_.resize(bytes);
    scheduler_ =
        ggml_backend_sched_new(backends_.data(), nullptr, static_cast<int>(backends_.size()), nodes,
                               /*parallel=*/false, /*op_offload=*/false);
    if (scheduler_ == nullptr) throw std::bad_alloc();
  }
  ggml_context* const context = ggml_init(
      {.mem_size = graph_memory_.size(), .mem_buffer = graph_memory_.data(), .no_alloc = true});
  const std::unique_ptr<ggml_context, decltype(&ggml_free)> freed(context, &ggml_free);
  ggml_cgraph* graph = ggml_new_graph_custom(context, nodes, false);
  GraphBuilder builder(context, graph, weights_, cell_type_, step, pieces);
  ggml_tensor* states = builder.Build();
  ggml_backend_sched_reset(scheduler_);
  if (!ggml_backend_sched_alloc_graph(scheduler_, graph)) throw std::bad_alloc();
  Set(builder.tokens, step.tokens);
  Set(builder.positions, step.positions);
  Set(builder.types, step.types);
  std::vector<int32_t> rows(step.outputs.begin(), step.outputs.end());
  Set(builder.outputs, rows);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (builder.masks[i] != nullptr) Set(builder.masks[i], MaskOf(step, pieces[i]));
  }
  const ggml_status status = ggml_backend_sched_graph_compute(scheduler_, graph);
  if (aborted_ || status == GGML_STATUS_ABORTED) return false;
  if (status != GGML_STATUS_SUCCESS) {
    throw EngineError("ERR_ENGINE_INTERNAL", "the encoder's graph could not be computed: status " +
                                                 std::to_string(static_cast<int>(status)));
  }
  states_.resize(step.outputs.size() * weights_.width);
  ggml_backend_tensor_get(states, states_.data(), 0, states_.size() * sizeof(float));
  return true;
}

}  // namespace oi
