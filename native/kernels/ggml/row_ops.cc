#include <cstring>

#include "../rows.h"
#include "ggml-backend-impl.h"
#include "ggml-cpu-impl.h"
#include "graph_passes.h"
#include "op_params.h"
#include "pools.h"
#include "rope_table.h"
#include "tensor_ops.h"

namespace oi::kernels {
namespace {

bool HasFloatRows(const ggml_tensor* tensor) {
  return tensor->type == GGML_TYPE_F32 && tensor->nb[0] == sizeof(float);
}

float* Row(const ggml_tensor* tensor, int64_t i1, int64_t i2, int64_t i3) {
  return reinterpret_cast<float*>(static_cast<char*>(tensor->data) + i1 * tensor->nb[1] +
                                  i2 * tensor->nb[2] + i3 * tensor->nb[3]);
}

// This thread's share of a tensor's rows, each by its three indices.
template <typename Compute>
void ForEachRow(const ggml_compute_params& params, const ggml_tensor* tensor, Compute compute) {
  const int64_t rows = ggml_nrows(tensor);
  const int64_t end = rows * (params.ith + 1) / params.nth;
  for (int64_t row = rows * params.ith / params.nth; row < end; ++row) {
    compute(row % tensor->ne[1], row / tensor->ne[1] % tensor->ne[2],
            row / tensor->ne[1] / tensor->ne[2]);
  }
}

// The kernel, for a pool that is ours; else null.
const RowKernel* KernelFor(const ggml_compute_params& params) {
  const bool ours = !params.use_ref && FindPool(params.threadpool) != nullptr;
  return ours ? FindRows() : nullptr;
}

// ---- norm ------------------------------------------------------------------------

constexpr ggml_op kPair[] = {GGML_OP_RMS_NORM, GGML_OP_MUL};

bool IsLeftToProduct(const ggml_tensor* op) {
  return op != nullptr && op->op == GGML_OP_RMS_NORM && !IsComputed(op);
}

const ggml_tensor* NormOf(const ggml_tensor* product) {
  return IsLeftToProduct(product->src[0]) ? product->src[0] : product->src[1];
}

// `weights`, repeated over the rows, or null.
void Compute(const ggml_compute_params& params, const ggml_tensor* norm, const ggml_tensor* weights,
             const ggml_tensor* result) {
  const RowKernel& kernel = *FindRows();
  const ggml_tensor* from = norm->src[0];
  float epsilon = 0;
  std::memcpy(&epsilon, norm->op_params, sizeof(epsilon));
  ForEachRow(params, from, [&](int64_t i1, int64_t i2, int64_t i3) {
    const float* of_row = weights == nullptr ? nullptr
                                             : Row(weights, i1 % weights->ne[1],
                                                   i2 % weights->ne[2], i3 % weights->ne[3]);
    kernel.norm(Row(from, i1, i2, i3), of_row, from->ne[0], epsilon, Row(result, i1, i2, i3));
  });
}

}  // namespace

void JoinNorms(ggml_cgraph* graph, ggml_backend_graph_optimize_params* params) {
  if (FindRows() == nullptr) return;
  for (int i = 0; i + 1 < graph->n_nodes; ++i) {
    if (!ggml_can_fuse(graph, i, kPair, 2)) continue;
    ggml_tensor* norm = graph->nodes[i];
    ggml_tensor* product = graph->nodes[i + 1];
    const ggml_tensor* weights = product->src[product->src[0] == norm ? 1 : 0];
    const bool rows = HasFloatRows(norm->src[0]) && HasFloatRows(product) && HasFloatRows(weights);
    if (!rows || weights == norm || weights->ne[0] != norm->ne[0]) continue;
    if (!KnowsParams(norm, kNormSlots) || !KnowsParams(product, kNoSlots)) continue;
    norm->flags &= ~GGML_TENSOR_FLAG_COMPUTE;
    if (params != nullptr) params->add_alloc_dep(params->user_data, norm->src[0], product);
  }
}

bool ComputesNorm(const ggml_tensor* product) {
  return product->op == GGML_OP_MUL &&
         (IsLeftToProduct(product->src[0]) || IsLeftToProduct(product->src[1]));
}

bool NormOp::compute_forward(ggml_compute_params* params, ggml_tensor* op) {
  if (op->op == GGML_OP_MUL) {
    const ggml_tensor* norm = NormOf(op);
    Compute(*params, norm, op->src[op->src[0] == norm ? 1 : 0], op);
    return true;
  }
  if (KernelFor(*params) == nullptr || !KnowsParams(op, kNormSlots)) return false;
  if (!HasFloatRows(op->src[0]) || !HasFloatRows(op)) return false;
  Compute(*params, op, nullptr, op);
  return true;
}

// ---- GELU ------------------------------------------------------------------------

bool IsGelu(const ggml_tensor* op) {
  if (op->op == GGML_OP_UNARY) return ggml_get_unary_op(op) == GGML_UNARY_OP_GELU;
  return op->op == GGML_OP_GLU && ggml_get_glu_op(op) == GGML_GLU_OP_GEGLU;
}

bool GeluOp::compute_forward(ggml_compute_params* params, ggml_tensor* op) {
  const bool gated = op->op == GGML_OP_GLU;
  const ggml_tensor* gates = op->src[0];
  const ggml_tensor* values = gated ? op->src[1] : nullptr;
  const RowKernel* kernel = KernelFor(*params);
  if (kernel == nullptr || !KnowsParams(op, gated ? kGateSlots : kUnarySlots)) return false;
  if (!HasFloatRows(gates) || !HasFloatRows(op)) return false;
  if (values != nullptr && !HasFloatRows(values)) return false;
  // Gates and values in one row: the gates first, unless they are swapped.
  const bool halves = gated && values == nullptr;
  const int64_t first = halves && ggml_get_op_params_i32(op, 1) != 0 ? op->ne[0] : 0;
  ForEachRow(*params, op, [&](int64_t i1, int64_t i2, int64_t i3) {
    const float* from = Row(gates, i1, i2, i3);
    const float* other = halves              ? from + op->ne[0] - first
                         : values != nullptr ? Row(values, i1, i2, i3)
                                             : nullptr;
    kernel->gelu(from + first, other, op->ne[0], Row(op, i1, i2, i3));
  });
  return true;
}

// ---- RoPE ------------------------------------------------------------------------

namespace {

bool IsRotatedText(const ggml_tensor* op) {
  const ggml_tensor* from = op->src[0];
  const int32_t mode = op->op_params[2];
  const bool of_text = mode == GGML_ROPE_TYPE_NORMAL || mode == GGML_ROPE_TYPE_NEOX ||
                       mode == GGML_ROPE_TYPE_MROPE || mode == GGML_ROPE_TYPE_IMROPE;
  return of_text && HasFloatRows(from) && HasFloatRows(op) && op->ne[3] == 1 &&
         KnowsParams(op, kRopeSlots);
}

Position PositionOf(const ggml_tensor* op, int64_t token) {
  const auto* positions = static_cast<const int32_t*>(op->src[1]->data);
  if ((op->op_params[2] & GGML_ROPE_TYPE_MROPE) == 0) return {positions[token], 0, 0, 0};
  const int64_t tokens = op->ne[2];
  return {positions[token], positions[token + tokens], positions[token + 2 * tokens],
          positions[token + 3 * tokens]};
}

}  // namespace

bool RopeOp::compute_forward(ggml_compute_params* params, ggml_tensor* op) {
  const RowKernel* kernel = KernelFor(*params);
  if (kernel == nullptr || !IsRotatedText(op)) return false;
  const ggml_tensor* from = op->src[0];
  const int64_t heads = op->ne[1];
  const int64_t rotated = op->op_params[1];
  const auto rest = static_cast<size_t>(op->ne[0] - rotated) * sizeof(float);
  const auto rope = PairsAreHalves(op) ? kernel->rope_halves : kernel->rope_neighbours;
  RopeTable& table = RopeTableFor(op);
  const float* of_token = nullptr;
  const int64_t rows = heads * op->ne[2];
  const int64_t begin = rows * params->ith / params->nth;
  const int64_t end = rows * (params->ith + 1) / params->nth;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t head = row % heads;
    const int64_t token = row / heads;
    if (row == begin || head == 0) of_token = table.At(PositionOf(op, token));
    const auto* values = reinterpret_cast<const float*>(static_cast<const char*>(from->data) +
                                                        head * from->nb[1] + token * from->nb[2]);
    auto* result = reinterpret_cast<float*>(static_cast<char*>(op->data) + head * op->nb[1] +
                                            token * op->nb[2]);
    rope(values, of_token, rotated / 2, result);
    if (rest > 0 && values != result) std::memcpy(result + rotated, values + rotated, rest);
  }
  return true;
}

}  // namespace oi::kernels
