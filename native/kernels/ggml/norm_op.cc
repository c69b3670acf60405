#include "norm_op.h"

#include <cstring>

#include "../rows.h"
#include "float_rows.h"
#include "ggml-backend-impl.h"
#include "ggml-cpu-impl.h"
#include "join_norms.h"
#include "op_params.h"
#include "pools.h"

namespace oi::kernels {
namespace {

constexpr ggml_op kPair[] = {GGML_OP_RMS_NORM, GGML_OP_MUL};

bool IsComputed(const ggml_tensor* op) { return (op->flags & GGML_TENSOR_FLAG_COMPUTE) != 0; }

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
  const int64_t rows = ggml_nrows(from);
  const int64_t end = rows * (params.ith + 1) / params.nth;
  for (int64_t row = rows * params.ith / params.nth; row < end; ++row) {
    const int64_t i1 = row % from->ne[1];
    const int64_t i2 = row / from->ne[1] % from->ne[2];
    const int64_t i3 = row / from->ne[1] / from->ne[2];
    const float* of_row = weights == nullptr ? nullptr
                                             : Row(weights, i1 % weights->ne[1],
                                                   i2 % weights->ne[2], i3 % weights->ne[3]);
    kernel.norm(Row(from, i1, i2, i3), of_row, from->ne[0], epsilon, Row(result, i1, i2, i3));
  }
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
  if (FindRows() == nullptr || FindPool(params->threadpool) == nullptr) return false;
  if (params->use_ref || !HasFloatRows(op->src[0]) || !HasFloatRows(op)) return false;
  if (!KnowsParams(op, kNormSlots)) return false;
  Compute(*params, op, nullptr, op);
  return true;
}

}  // namespace oi::kernels
