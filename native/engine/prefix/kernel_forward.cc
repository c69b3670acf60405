#include "kernel_forward.h"

#include <algorithm>
#include <new>
#include <utility>

#include "../error.h"
#include "ggml-cpu.h"

namespace oi {
namespace {

constexpr size_t kGraphNodes = 4;
// ../../threads/graph_cost.cc counts so much for a value of an operation that it does not know.
constexpr double kValueCost = 16;

kernels::CacheFormat FormatOf(CacheType type) {
  switch (type) {
    case CacheType::kF32:
      return kernels::CacheFormat::kF32;
    case CacheType::kBF16:
      return kernels::CacheFormat::kBF16;
    case CacheType::kF16:
      break;
  }
  return kernels::CacheFormat::kF16;
}

// Null if it is not in RAM, as single precision.
const float* FloatsOf(const ggml_tensor* tensor) {
  const bool here = tensor->type == GGML_TYPE_F32 && tensor->buffer != nullptr &&
                    ggml_backend_buffer_is_host(tensor->buffer);
  return here ? static_cast<const float*>(tensor->data) : nullptr;
}

kernels::PartsWeights WeightsOf(const PrefixWeights& from) {
  using To = kernels::PartsWeights;
  const auto matrix = [](const PrefixWeights::Linear& linear) {
    return To::Matrix{linear.weights, FloatsOf(linear.bias)};
  };
  const auto norm = [](const PrefixWeights::Norm& given) {
    return To::Norm{FloatsOf(given.weights), FloatsOf(given.shift)};
  };
  To to;
  to.width = static_cast<int64_t>(from.width);
  to.heads = static_cast<int64_t>(from.heads);
  to.hidden = static_cast<int64_t>(from.hidden);
  to.epsilon = from.epsilon;
  to.exact = from.exact;
  to.tokens = from.tokens;
  to.positions = from.positions;
  to.types = from.types;
  to.embedding = norm(from.embedding);
  for (const PrefixWeights::Layer& layer : from.layers) {
    to.layers.push_back({matrix(layer.query), matrix(layer.key), matrix(layer.value),
                         matrix(layer.output), matrix(layer.up), matrix(layer.down),
                         norm(layer.attention), norm(layer.feed_forward)});
  }
  return to;
}

}  // namespace

std::unique_ptr<Forward> KernelForward::Make(const PrefixWeights& weights,
                                             const EngineOptions& options, const ContextPlan& plan,
                                             Abort abort) {
  const kernels::PartsWeights given = WeightsOf(weights);
  if (!kernels::HasPartsForward(given)) return nullptr;
  return std::unique_ptr<Forward>(
      new KernelForward(given, FormatOf(options.cache_type), plan.threads, std::move(abort)));
}

KernelForward::KernelForward(const kernels::PartsWeights& weights, kernels::CacheFormat format,
                             uint32_t threads, Abort abort)
    : width_(static_cast<size_t>(weights.width)),
      threads_(threads),
      abort_(std::move(abort)),
      forward_(weights, format),
      crew_(threads, /*adapts=*/true),
      context_(ggml_init({.mem_size = kGraphNodes * ggml_tensor_overhead() +
                                      ggml_graph_overhead_custom(kGraphNodes, false),
                          .mem_buffer = nullptr,
                          .no_alloc = true})) {
  if (context_ == nullptr) throw std::bad_alloc();
  node_ = ggml_custom_4d(context_, GGML_TYPE_F32, 1, 1, 1, 1, nullptr, 0, &KernelForward::Compute,
                         GGML_N_TASKS_MAX, this);
  graph_ = ggml_new_graph_custom(context_, kGraphNodes, false);
  ggml_build_forward_expand(graph_, node_);
}

KernelForward::~KernelForward() { ggml_free(context_); }

ggml_backend_buffer_type_t KernelForward::cell_memory() const {
  return ggml_backend_cpu_buffer_type();
}

void KernelForward::Compute(ggml_tensor*, int thread, int threads, void* self) {
  auto* my = static_cast<KernelForward*>(self);
  my->forward_.Compute(thread, threads, my->crew_.pool(), &KernelForward::OnAbort, self);
}

bool KernelForward::OnAbort(void* self) { return static_cast<KernelForward*>(self)->abort_(); }

bool KernelForward::Run(ForwardStep& step) {
  for (size_t i = 0; i < step.parts.size(); ++i) {
    kernels::StepPart& part = step.parts[i];
    const ForwardStep::Kept& kept = step.kept[i];
    if (kept.state != nullptr) part.before[0].kept = kept.state->data();
    part.keep = kept.keep == nullptr ? nullptr : kept.keep->data();
  }
  forward_.Prepare(step, static_cast<int>(threads_));
  // The choice of threads goes by the cost of a graph; nothing is stored in its node.
  node_->ne[0] = std::max<int64_t>(1, static_cast<int64_t>(forward_.cost() / kValueCost));
  ggml_cplan plan = ggml_graph_plan(graph_, static_cast<int>(threads_), crew_.pool());
  if (ggml_graph_compute(graph_, &plan) != GGML_STATUS_SUCCESS) {
    throw EngineError("ERR_ENGINE_INTERNAL", "the encoder's graph could not be computed");
  }
  return !forward_.aborted();
}

}  // namespace oi
