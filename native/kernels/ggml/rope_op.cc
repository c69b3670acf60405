#include "rope_op.h"

#include <cstring>

#include "../rows.h"
#include "ggml-cpu-impl.h"
#include "op_params.h"
#include "pools.h"
#include "rope_table.h"

namespace oi::kernels {
namespace {

bool IsKnown(const ggml_tensor* op) {
  const ggml_tensor* from = op->src[0];
  const int32_t mode = op->op_params[2];
  const bool of_text = mode == GGML_ROPE_TYPE_NORMAL || mode == GGML_ROPE_TYPE_NEOX ||
                       mode == GGML_ROPE_TYPE_MROPE || mode == GGML_ROPE_TYPE_IMROPE;
  const bool floats = from->type == GGML_TYPE_F32 && from->nb[0] == sizeof(float) &&
                      op->type == GGML_TYPE_F32 && op->nb[0] == sizeof(float);
  return of_text && floats && op->ne[3] == 1 && KnowsParams(op, kRopeSlots);
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
  const RowKernel* kernel = FindRows();
  if (kernel == nullptr || FindPool(params->threadpool) == nullptr) return false;
  if (params->use_ref || !IsKnown(op)) return false;
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
