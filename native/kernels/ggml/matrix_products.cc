#include "matrix_products.h"

#include "../kernels.h"
#include "product_plan.h"

namespace oi::kernels {

bool HasMatmul(int type, int64_t k, int64_t rows) {
  const std::optional<Format> format = FormatOf(static_cast<ggml_type>(type));
  return format && FindProduct(*format, rows) != nullptr && k % LengthUnit(*format) == 0 &&
         rows % kTileRows == 0;
}

bool HasProduct(const ggml_tensor* weights) {
  return HasMatmul(weights->type, weights->ne[0], weights->ne[1]) && weights->ne[3] == 1 &&
         ggml_is_contiguous(weights);
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
