#include "matrix_products.h"

#include "product_plan.h"

namespace oi::kernels {

bool HasProduct(const ggml_tensor* weights) {
  const std::optional<Format> format = FormatOf(weights->type);
  return format && FindProduct(*format, weights->ne[1]) != nullptr &&
         weights->ne[0] % LengthUnit(*format) == 0 && weights->ne[1] % kTileRows == 0 &&
         weights->ne[3] == 1 && ggml_is_contiguous(weights);
}

void SetWeights(ggml_tensor* weights, const void* rows, size_t offset, size_t size) {
  const std::optional<Format> format = FormatOf(weights->type);
  GGML_ASSERT(format && HasProduct(weights));
  const size_t row = RowBytes(*format, weights->ne[0]);
  const size_t tile = TileBytes(*format, weights->ne[0]);
  GGML_ASSERT(row == weights->nb[1] && offset % tile == 0 && size % tile == 0);
  PackTiles(*format, static_cast<int64_t>(size / row), weights->ne[0], rows,
            static_cast<uint8_t*>(weights->data) + offset);
}

bool MatrixProducts::work_size(int, const ggml_tensor* op, size_t& size) {
  size = Plan(op, nullptr).WorkBytes();
  return true;
}

bool MatrixProducts::compute_forward(ggml_compute_params* params, ggml_tensor* op) {
  const Plan plan = StartPlan(*params, op, op);
  ForEachPiece(*params, plan, [&](int64_t matrix, Columns columns, int64_t begin, int64_t end) {
    plan.kernel.multiply(plan.Matrix(matrix), plan.k, begin, end,
                         plan.ActivationsFrom(columns.begin), columns.end - columns.begin,
                         plan.results + columns.begin);
    plan.AddParts(columns, begin, end);
  });
  return true;
}

}  // namespace oi::kernels
