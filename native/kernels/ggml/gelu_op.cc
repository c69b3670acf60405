#include "gelu_op.h"

#include "../rows.h"
#include "float_rows.h"
#include "ggml-cpu-impl.h"
#include "op_params.h"
#include "pools.h"

namespace oi::kernels {

bool IsGelu(const ggml_tensor* op) {
  if (op->op == GGML_OP_UNARY) return ggml_get_unary_op(op) == GGML_UNARY_OP_GELU;
  return op->op == GGML_OP_GLU && ggml_get_glu_op(op) == GGML_GLU_OP_GEGLU;
}

bool GeluOp::compute_forward(ggml_compute_params* params, ggml_tensor* op) {
  const bool gated = op->op == GGML_OP_GLU;
  const ggml_tensor* gates = op->src[0];
  const ggml_tensor* values = gated ? op->src[1] : nullptr;
  const RowKernel* kernel = FindRows();
  if (kernel == nullptr || FindPool(params->threadpool) == nullptr) return false;
  if (params->use_ref || !KnowsParams(op, gated ? kGateSlots : kUnarySlots)) return false;
  if (!HasFloatRows(gates) || !HasFloatRows(op)) return false;
  if (values != nullptr && !HasFloatRows(values)) return false;
  // Gates and values in one row: the gates first, unless they are swapped.
  const bool halves = gated && values == nullptr;
  const int64_t first = halves && ggml_get_op_params_i32(op, 1) != 0 ? op->ne[0] : 0;

  const int64_t rows = ggml_nrows(op);
  const int64_t end = rows * (params->ith + 1) / params->nth;
  for (int64_t row = rows * params->ith / params->nth; row < end; ++row) {
    const int64_t i1 = row % op->ne[1];
    const int64_t i2 = row / op->ne[1] % op->ne[2];
    const int64_t i3 = row / op->ne[1] / op->ne[2];
    const float* from = Row(gates, i1, i2, i3);
    const float* other = halves              ? from + op->ne[0] - first
                         : values != nullptr ? Row(values, i1, i2, i3)
                                             : nullptr;
    kernel->gelu(from + first, other, op->ne[0], Row(op, i1, i2, i3));
  }
  return true;
}

}  // namespace oi::kernels
