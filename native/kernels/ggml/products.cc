#include "products.h"

#include "../kernels.h"
#include "../rows.h"
#include "graph_passes.h"
#include "product_plan.h"

namespace oi::kernels {

bool HasMatmul(int type, int64_t k, int64_t rows, int64_t matrices) {
  const std::optional<Format> format = FormatOf(static_cast<ggml_type>(type));
  return format && FindProduct(*format, rows) != nullptr && k % LengthUnit(*format) == 0 &&
         (rows % kTileRows == 0 || matrices == 1);
}

bool HasProduct(const ggml_tensor* weights) {
  const int64_t* sizes = weights->ne;
  return HasMatmul(weights->type, sizes[0], sizes[1], sizes[2]) && sizes[3] == 1 &&
         ggml_is_contiguous(weights);
}

size_t BytesOfTiles(const ggml_tensor* weights) {
  if (!HasProduct(weights) || weights->ne[1] % kTileRows == 0) return ggml_nbytes(weights);
  return static_cast<size_t>(TilesOf(weights->ne[1])) *
         TileBytes(*FormatOf(weights->type), weights->ne[0]);
}

void SetWeights(ggml_tensor* weights, const void* rows, size_t offset, size_t size) {
  const std::optional<Format> format = FormatOf(weights->type);
  GGML_ASSERT(format && HasProduct(weights));
  const size_t row = RowBytes(*format, weights->ne[0]);
  const size_t tile = TileBytes(*format, weights->ne[0]);
  GGML_ASSERT(row == weights->nb[1] && offset % tile == 0);
  GGML_ASSERT(size % tile == 0 || offset + size == ggml_nbytes(weights));
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
    const uint8_t* activations = plan.ActivationsFrom(columns.begin);
    const int64_t count = columns.end - columns.begin;
    const int64_t whole = std::min(end, plan.rows / kTileRows);
    if (begin < whole) {
      plan.kernel.multiply(plan.Matrix(matrix), plan.k, begin, whole, activations, count,
                           plan.results + columns.begin);
    }
    if (whole < end) {
      plan.kernel.multiply(plan.Matrix(matrix) + static_cast<size_t>(whole) * plan.TileBytes(),
                           plan.k, 0, 1, activations, count, plan.last_results);
      plan.TakeLastRows();
    }
    plan.AddParts(columns, begin, end);
  });
  return true;
}

namespace {

// The block that a thread computes at once: gates and values of so many columns and rows stay in
// the second-level cache.
constexpr int64_t kColumnsAtOnce = 512;
constexpr int64_t kTilesAtOnce = 2;
constexpr int64_t kRowsAtOnce = kTilesAtOnce * kTileRows;

struct alignas(64) Scratch {
  float gates[kColumnsAtOnce][kRowsAtOnce];
  float values[kColumnsAtOnce][kRowsAtOnce];
};

// ProductKernel::multiply_gated by two products.
void MultiplyInTurn(const ProductKernel& kernel, size_t tile_bytes, const uint8_t* gates,
                    const uint8_t* values, int64_t k, int64_t begin, int64_t end,
                    const uint8_t* activations, int64_t columns, float* const* results,
                    Scratch& scratch) {
  const int64_t most = kColumnsAtOnce / kernel.group * kernel.group;
  float* to_gates[kColumnsAtOnce];
  float* to_values[kColumnsAtOnce];
  for (int64_t c = 0; c < std::min(most, columns); ++c) {
    to_gates[c] = scratch.gates[c];
    to_values[c] = scratch.values[c];
  }
  for (int64_t column = 0; column < columns; column += most) {
    const int64_t width = std::min(most, columns - column);
    const uint8_t* from = activations + kernel.activation_bytes(k, column);
    for (int64_t tile = begin; tile < end; tile += kTilesAtOnce) {
      const int64_t tiles = std::min(kTilesAtOnce, end - tile);
      const size_t at = static_cast<size_t>(tile) * tile_bytes;
      kernel.multiply(gates + at, k, 0, tiles, from, width, to_gates);
      kernel.multiply(values + at, k, 0, tiles, from, width, to_values);
      for (int64_t c = 0; c < width; ++c) {
        FindRows()->swiglu(to_gates[c], to_values[c], tiles * kTileRows,
                           results[column + c] + tile * kTileRows);
      }
    }
  }
}

}  // namespace

bool GatedProducts::work_size(int threads, const ggml_tensor* op, size_t& size) {
  if (!ComputesProducts(op)) return false;
  const Plan plan(op->src[0], nullptr);
  const size_t scratch = plan.kernel.multiply_gated == nullptr ? sizeof(Scratch) : 0;
  size = plan.WorkBytes() + static_cast<size_t>(threads) * scratch;
  return true;
}

bool GatedProducts::compute_forward(ggml_compute_params* params, ggml_tensor* op) {
  if (!ComputesProducts(op)) return false;
  const Plan plan = StartPlan(*params, op->src[0], op);
  const Plan values(op->src[1], nullptr);
  GGML_ASSERT(HasProduct(values.weights));
  auto* scratch = reinterpret_cast<Scratch*>(plan.activations + plan.bytes) + params->ith;
  ForEachPiece(*params, plan, [&](int64_t matrix, Columns columns, int64_t begin, int64_t end) {
    const uint8_t* activations = plan.ActivationsFrom(columns.begin);
    const int64_t count = columns.end - columns.begin;
    float* const* results = plan.results + columns.begin;
    if (plan.kernel.multiply_gated != nullptr) {
      plan.kernel.multiply_gated(plan.Matrix(matrix), values.Matrix(matrix), plan.k, begin, end,
                                 activations, count, results);
    } else {
      MultiplyInTurn(plan.kernel, plan.TileBytes(), plan.Matrix(matrix), values.Matrix(matrix),
                     plan.k, begin, end, activations, count, results, *scratch);
    }
  });
  return true;
}

}  // namespace oi::kernels
