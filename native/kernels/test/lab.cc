#include "lab.h"

#include <cmath>
#include <cstring>

#include "../../threads/crew.h"
#include "../ggml/buffer_type.h"
#include "../ggml/graph_passes.h"
#include "../kernels.h"
#include "one_cache.h"

namespace oi::kernels::test {
namespace {

ggml_context* NewContext(size_t bytes, bool no_alloc) {
  ggml_init_params params{};
  params.mem_size = bytes;
  params.no_alloc = no_alloc;
  return ggml_init(params);
}

// Where llama.cpp's loader puts weights of this operation: the first type that supports it.
ggml_backend_buffer_type_t TypeFor(Side side, ggml_tensor* weights, ggml_tensor* operation) {
  const LoadScope scope(side == Side::kOurs);
  ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  const auto extra =
      reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(ggml_backend_reg_get_proc_address(
          ggml_backend_dev_backend_reg(cpu), "ggml_backend_dev_get_extra_bufts"));
  for (ggml_backend_buffer_type_t* type = extra(cpu); type != nullptr && *type != nullptr; ++type) {
    weights->buffer = ggml_backend_buft_alloc_buffer(*type, 0);
    const bool supported = ggml_backend_dev_supports_op(cpu, operation);
    ggml_backend_buffer_free(weights->buffer);
    weights->buffer = nullptr;
    if (supported) return *type;
  }
  return ggml_backend_cpu_buffer_type();
}

}  // namespace

Operation::Operation(size_t numbers)
    : inputs_(NewContext(numbers * sizeof(float) + (1 << 20), false)),
      graph_context_(NewContext(1 << 20, true)) {}

ggml_tensor* Operation::Input(ggml_type type, int64_t ne0, int64_t ne1, int64_t ne2,
                              const Floats& values) {
  ggml_tensor* tensor = ggml_new_tensor_3d(inputs_.get(), type, ne0, ne1, ne2);
  if (type == GGML_TYPE_F32) {
    std::memcpy(tensor->data, values.data(), values.size() * sizeof(float));
  } else {
    ggml_quantize_chunk(type, values.data(), tensor->data, 0, ne1 * ne2, ne0, nullptr);
  }
  return tensor;
}

void Operation::PlaceWeights(Side side, ggml_tensor* weights, ggml_tensor* result,
                             const std::vector<uint8_t>& bytes) {
  ggml_backend_buffer_type_t type = TypeFor(side, weights, result);
  GGML_ASSERT((type == BufferType()) == (side == Side::kOurs));
  ggml_backend_buffer* buffer =
      ggml_backend_buft_alloc_buffer(type, ggml_backend_buft_get_alloc_size(type, weights));
  weights_buffers_.emplace_back(buffer);
  ggml_backend_tensor_alloc(buffer, weights, ggml_backend_buffer_get_base(buffer));
  ggml_backend_tensor_set(weights, bytes.data(), 0, bytes.size());
}

void Operation::Finish(ggml_tensor* result) {
  result_ = result;
  result_->data = ggml_new_tensor(inputs_.get(), GGML_TYPE_F32, 4, result->ne)->data;
  graph_ = ggml_new_graph(graph_context_.get());
  ggml_build_forward_expand(graph_, result_);
}

std::unique_ptr<Operation> Operation::Product(Side side, ggml_type type, int64_t rows, int64_t k,
                                              const std::vector<uint8_t>& bytes,
                                              const Floats& columns) {
  const auto count = static_cast<int64_t>(columns.size()) / k;
  std::unique_ptr<Operation> operation(
      new Operation(columns.size() + static_cast<size_t>(rows * count)));
  ggml_tensor* weights = ggml_new_tensor_2d(operation->graph_context_.get(), type, k, rows);
  ggml_tensor* input = operation->Input(GGML_TYPE_F32, k, count, 1, columns);
  ggml_tensor* result = ggml_mul_mat(operation->graph_context_.get(), weights, input);
  operation->PlaceWeights(side, weights, result, bytes);
  operation->Finish(result);
  return operation;
}

std::unique_ptr<Operation> Operation::Experts(Side side, ggml_type type, int64_t rows, int64_t k,
                                              int64_t experts, const std::vector<uint8_t>& bytes,
                                              const Floats& columns,
                                              const std::vector<int32_t>& ids, int64_t used) {
  std::unique_ptr<Operation> operation(
      new Operation(columns.size() + ids.size() * static_cast<size_t>(rows + 1)));
  ggml_context* context = operation->graph_context_.get();
  ggml_tensor* weights = ggml_new_tensor_3d(context, type, k, rows, experts);
  const auto tokens = static_cast<int64_t>(ids.size()) / used;
  const auto per_token = static_cast<int64_t>(columns.size()) / k / tokens;
  ggml_tensor* input = operation->Input(GGML_TYPE_F32, k, per_token, tokens, columns);
  ggml_tensor* chosen = ggml_new_tensor_2d(operation->inputs_.get(), GGML_TYPE_I32, used, tokens);
  std::memcpy(chosen->data, ids.data(), ids.size() * sizeof(int32_t));
  ggml_tensor* result = ggml_mul_mat_id(context, weights, input, chosen);
  operation->PlaceWeights(side, weights, result, bytes);
  operation->Finish(result);
  return operation;
}

// Memory for a result that only other operations need.
ggml_tensor* Operation::SpoiledResult(ggml_tensor* operation) {
  ggml_tensor* memory = ggml_new_tensor(inputs_.get(), GGML_TYPE_F32, 4, operation->ne);
  operation->data = memory->data;
  std::fill_n(static_cast<float*>(memory->data), ggml_nelements(memory), std::nanf(""));
  return operation;
}

std::unique_ptr<Operation> Operation::GatedProducts(const GatedCase& gated) {
  const auto tokens = static_cast<int64_t>(gated.columns.size()) / gated.k;
  std::unique_ptr<Operation> operation(
      new Operation(gated.columns.size() + gated.ids.size() +
                    4 * static_cast<size_t>(gated.rows * gated.used * tokens)));
  ggml_context* context = operation->graph_context_.get();
  ggml_tensor* columns = operation->Input(GGML_TYPE_F32, gated.k, 1, tokens, gated.columns);
  ggml_tensor* chosen =
      ggml_new_tensor_2d(operation->inputs_.get(), GGML_TYPE_I32, gated.used, tokens);
  if (!gated.ids.empty()) {
    std::memcpy(chosen->data, gated.ids.data(), gated.ids.size() * sizeof(int32_t));
  }
  const auto product = [&](const std::vector<uint8_t>& bytes) {
    ggml_tensor* weights =
        ggml_new_tensor_3d(context, gated.type, gated.k, gated.rows, gated.experts);
    ggml_tensor* result = gated.ids.empty() ? ggml_mul_mat(context, weights, columns)
                                            : ggml_mul_mat_id(context, weights, columns, chosen);
    operation->PlaceWeights(Side::kOurs, weights, result, bytes);
    return operation->SpoiledResult(result);
  };
  ggml_tensor* gates = product(gated.gates);
  ggml_tensor* gate = ggml_swiglu_split(context, gates, product(gated.values));
  operation->Finish(gated.added ? ggml_add(context, operation->SpoiledResult(gate), gates) : gate);
  JoinGates(operation->graph_, nullptr);
  return operation;
}

std::unique_ptr<Operation> Operation::Swiglu(const Floats& gates, const Floats& values) {
  std::unique_ptr<Operation> operation(new Operation(3 * values.size()));
  const auto input = [&](const Floats& row) {
    return operation->Input(GGML_TYPE_F32, static_cast<int64_t>(row.size()), 1, 1, row);
  };
  operation->Finish(
      ggml_swiglu_split(operation->graph_context_.get(), input(gates), input(values)));
  return operation;
}

std::unique_ptr<Operation> Operation::Gelu(GeluKind kind, const Floats& gates, const Floats& values,
                                           int64_t length) {
  std::unique_ptr<Operation> operation(new Operation(3 * (gates.size() + values.size())));
  ggml_context* context = operation->graph_context_.get();
  const auto rows = static_cast<int64_t>(gates.size()) / length;
  const auto input = [&](const Floats& from) {
    return operation->Input(GGML_TYPE_F32, length, rows, 1, from);
  };
  const auto halves = [&](const Floats& first, const Floats& second) {
    Floats both;
    for (int64_t row = 0; row < rows; ++row) {
      for (const Floats* half : {&first, &second}) {
        both.insert(both.end(), half->begin() + row * length, half->begin() + (row + 1) * length);
      }
    }
    return operation->Input(GGML_TYPE_F32, 2 * length, rows, 1, both);
  };
  switch (kind) {
    case GeluKind::kAlone:
      operation->Finish(ggml_gelu(context, input(gates)));
      break;
    case GeluKind::kGate:
      operation->Finish(ggml_geglu_split(context, input(gates), input(values)));
      break;
    case GeluKind::kHalves:
      operation->Finish(ggml_geglu(context, halves(gates, values)));
      break;
    case GeluKind::kSwappedHalves:
      operation->Finish(ggml_geglu_swapped(context, halves(values, gates)));
      break;
  }
  return operation;
}

void Operation::MakeExact() { kernels::MakeExact(result_); }

std::unique_ptr<Operation> Operation::Attention(Side side, const AttentionCase& attention) {
  std::unique_ptr<Operation> operation(
      new Operation(2 * attention.queries.size() + 2 * attention.keys.size() +
                    2 * attention.values.size() + attention.mask.size() + attention.sinks.size()));
  ggml_context* context = operation->graph_context_.get();
  ggml_tensor* queries = operation->Input(GGML_TYPE_F32, attention.size, attention.tokens,
                                          attention.heads, attention.queries);
  const auto cache = [&](const Floats& values) {
    ggml_tensor* tensor = operation->Input(attention.type, attention.size, attention.key_heads,
                                           attention.cells, values);
    tensor = ggml_permute(context, tensor, 0, 2, 1, 3);
    if (!attention.cast) return tensor;
    ggml_tensor* cast = ggml_cast(context, tensor, GGML_TYPE_F16);
    cast->data = ggml_new_tensor(operation->inputs_.get(), GGML_TYPE_F16, 4, cast->ne)->data;
    std::memset(cast->data, 0xFF, ggml_nbytes(cast));
    return cast;
  };
  ggml_tensor* keys = cache(attention.keys);
  ggml_tensor* values = cache(attention.values);
  ggml_tensor* mask =
      operation->Input(GGML_TYPE_F16, attention.cells, attention.tokens, 1, attention.mask);
  const float scale = 1.0f / std::sqrt(static_cast<float>(attention.size));
  ggml_tensor* const result =
      ggml_flash_attn_ext(context, queries, keys, values, mask, scale, 0, 0);
  if (!attention.sinks.empty()) {
    ggml_tensor* const sinks =
        operation->Input(GGML_TYPE_F32, attention.heads, 1, 1, attention.sinks);
    ggml_flash_attn_ext_add_sinks(result, sinks);
  }
  operation->Finish(result);
  if (side == Side::kOurs) SkipCasts(operation->graph_);
  if (!attention.ranks.empty()) operation->order_ = std::make_unique<OneCache>(attention.ranks);
  return operation;
}

std::unique_ptr<Operation> Operation::Norm(Side side, const Floats& values, int64_t length,
                                           const Floats& weights, float epsilon) {
  std::unique_ptr<Operation> operation(new Operation(3 * values.size() + weights.size()));
  ggml_context* context = operation->graph_context_.get();
  const auto rows = static_cast<int64_t>(values.size()) / length;
  ggml_tensor* norm =
      ggml_rms_norm(context, operation->Input(GGML_TYPE_F32, length, rows, 1, values), epsilon);
  if (weights.empty()) {
    operation->Finish(norm);
    return operation;
  }
  operation->Finish(ggml_mul(context, operation->SpoiledResult(norm),
                             operation->Input(GGML_TYPE_F32, length, 1, 1, weights)));
  if (side == Side::kOurs) JoinNorms(operation->graph_, nullptr);
  return operation;
}

std::unique_ptr<Operation> Operation::Rope(const RopeCase& rope) {
  std::unique_ptr<Operation> operation(
      new Operation(2 * rope.values.size() + rope.positions.size() + rope.factors.size()));
  ggml_context* context = operation->graph_context_.get();
  const int64_t stride = rope.stride == 0 ? rope.heads : rope.stride;
  const auto tokens = static_cast<int64_t>(rope.values.size()) / rope.size / stride;
  ggml_tensor* all = operation->Input(GGML_TYPE_F32, rope.size, stride, tokens, rope.values);
  ggml_tensor* values =
      ggml_view_3d(context, all, rope.size, rope.heads, tokens, all->nb[1], all->nb[2], 0);
  const auto count = static_cast<int64_t>(rope.positions.size());
  ggml_tensor* positions = ggml_new_tensor_1d(operation->inputs_.get(), GGML_TYPE_I32, count);
  std::memcpy(positions->data, rope.positions.data(), rope.positions.size() * 4);
  ggml_tensor* factors = nullptr;
  if (!rope.factors.empty()) {
    factors = operation->Input(GGML_TYPE_F32, rope.turned / 2, 1, 1, rope.factors);
  }
  if ((rope.mode & GGML_ROPE_TYPE_MROPE) != 0) {
    int sections[] = {rope.turned / 6, rope.turned / 6, rope.turned / 6, 0};
    operation->Finish(ggml_rope_multi(context, values, positions, factors, rope.turned, sections,
                                      rope.mode, 4096, rope.base, rope.scale, rope.extrapolated, 1,
                                      32, 1));
  } else {
    operation->Finish(ggml_rope_ext(context, values, positions, factors, rope.turned, rope.mode,
                                    4096, rope.base, rope.scale, rope.extrapolated, 1, 32, 1));
  }
  return operation;
}

namespace {

// The product's own threads: ggml's wait for one another without giving up their cores, and where
// there are more of them than cores, that took most of the time.
Crew& CrewOf(int threads) {
  static std::unique_ptr<Crew> crew;
  static int size = 0;
  if (threads != size) {
    crew.reset();
    crew = std::make_unique<Crew>(static_cast<uint32_t>(threads), /*adapts=*/false);
    size = threads;
  }
  return *crew;
}

}  // namespace

void Operation::Compute(Side side, int threads) {
  ggml_threadpool* pool = CrewOf(threads).pool();
  const PoolScope scope(side == Side::kOurs ? pool : nullptr, order_.get());
  ggml_cplan plan = ggml_graph_plan(graph_, threads, pool);
  work_.resize(plan.work_size);
  plan.work_data = work_.data();
  GGML_ASSERT(ggml_graph_compute(graph_, &plan) == GGML_STATUS_SUCCESS);
}

Floats Operation::Result() const {
  const auto* data = static_cast<const float*>(result_->data);
  return Floats(data, data + ggml_nelements(result_));
}

}  // namespace oi::kernels::test
