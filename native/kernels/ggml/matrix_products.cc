#include "matrix_products.h"

#include <algorithm>
#include <optional>

#include "../product.h"

namespace oi::kernels {
namespace {

std::optional<Format> FormatOf(ggml_type type) {
  switch (type) {
    case GGML_TYPE_Q8_0:
      return Format::kQ8_0;
    case GGML_TYPE_Q4_0:
      return Format::kQ4_0;
    case GGML_TYPE_Q4_K:
      return Format::kQ4_K;
    case GGML_TYPE_Q5_K:
      return Format::kQ5_K;
    case GGML_TYPE_Q6_K:
      return Format::kQ6_K;
    case GGML_TYPE_BF16:
      return Format::kBF16;
    case GGML_TYPE_F16:
      return Format::kF16;
    default:
      return std::nullopt;
  }
}

// The columns that one matrix of weights is multiplied with.
struct Columns {
  int64_t begin = 0;
  int64_t end = 0;
};

// A product, cut up: matrices of weights (one, or one per expert) and their columns. It lies in the
// work buffer, one for all threads; the first fills it in.
struct Plan {
  Plan(const ggml_tensor* op, void* memory)
      : weights(op->src[0]),
        kernel(*FindProduct(*FormatOf(weights->type), weights->ne[1])),
        k(weights->ne[0]),
        tiles(weights->ne[1] / kTileRows),
        matrices(weights->ne[2]),
        count(op->ne[1] * op->ne[2] * op->ne[3]) {
    const auto start = reinterpret_cast<uintptr_t>(memory);
    uintptr_t next = start;
    const auto take = [&next](size_t size) {
      const uintptr_t at = next;
      next += (size + 63) / 64 * 64;
      return at;
    };
    const auto n = static_cast<size_t>(count);
    activations = reinterpret_cast<uint8_t*>(take(kernel.activation_bytes(k, count)));
    sources = reinterpret_cast<const float**>(take(n * sizeof(float*)));
    results = reinterpret_cast<float**>(take(n * sizeof(float*)));
    columns = reinterpret_cast<Columns*>(take(static_cast<size_t>(matrices) * sizeof(Columns)));
    bytes = next - start;
  }

  const ggml_tensor* weights;
  const ProductKernel& kernel;
  int64_t k;
  int64_t tiles;  // of a matrix
  int64_t matrices;
  int64_t count;  // of all columns

  uint8_t* activations;
  const float** sources;  // [count]
  float** results;        // [count]
  Columns* columns;       // [matrices]
  size_t bytes;

  uint8_t* ActivationsFrom(int64_t column) const {
    return activations + static_cast<size_t>(column) * kernel.activation_bytes(k, 1);
  }
  const uint8_t* Matrix(int64_t i) const {
    return static_cast<const uint8_t*>(weights->data) + static_cast<size_t>(i) * weights->nb[2];
  }
};

// Any shape of activations against one matrix.
void PlanOne(const ggml_tensor* op, const Plan& plan) {
  const ggml_tensor* from = op->src[1];
  int64_t column = 0;
  for (int64_t i3 = 0; i3 < op->ne[3]; ++i3) {
    for (int64_t i2 = 0; i2 < op->ne[2]; ++i2) {
      for (int64_t i1 = 0; i1 < op->ne[1]; ++i1, ++column) {
        const auto at = [&](const ggml_tensor* t) {
          return static_cast<char*>(t->data) + i1 * t->nb[1] + i2 * t->nb[2] + i3 * t->nb[3];
        };
        plan.sources[column] = reinterpret_cast<const float*>(at(from));
        plan.results[column] = reinterpret_cast<float*>(at(op));
      }
    }
  }
  plan.columns[0] = {0, column};
}

// Each column against the expert that op->src[2] names for it: sorted by expert.
void PlanExperts(const ggml_tensor* op, const Plan& plan) {
  const ggml_tensor* from = op->src[1];
  const ggml_tensor* ids = op->src[2];
  const auto expert_of = [ids](int64_t slot, int64_t token) {
    const char* at = static_cast<const char*>(ids->data) + slot * ids->nb[0] + token * ids->nb[1];
    return *reinterpret_cast<const int32_t*>(at);
  };
  std::fill_n(plan.columns, plan.matrices, Columns{});
  for (int64_t token = 0; token < ids->ne[1]; ++token) {
    for (int64_t slot = 0; slot < ids->ne[0]; ++slot) {
      const int32_t expert = expert_of(slot, token);
      GGML_ASSERT(expert >= 0 && expert < plan.matrices);
      ++plan.columns[expert].end;
    }
  }
  int64_t total = 0;
  for (int64_t i = 0; i < plan.matrices; ++i) {
    const int64_t own = plan.columns[i].end;
    plan.columns[i] = {total, total};
    total += own;
  }
  for (int64_t token = 0; token < ids->ne[1]; ++token) {
    for (int64_t slot = 0; slot < ids->ne[0]; ++slot) {
      const int64_t column = plan.columns[expert_of(slot, token)].end++;
      const int64_t source = slot % from->ne[1];
      plan.sources[column] = reinterpret_cast<const float*>(
          static_cast<const char*>(from->data) + source * from->nb[1] + token * from->nb[2]);
      plan.results[column] = reinterpret_cast<float*>(static_cast<char*>(op->data) +
                                                      slot * op->nb[1] + token * op->nb[2]);
    }
  }
}

// A piece is a part of one group's values. Each thread has those that follow one another, as far as
// possible of the columns that it made: they may still be in its cache.
void Convert(const ggml_compute_params& params, const Plan& plan) {
  const int64_t group = plan.kernel.group;
  const int64_t parts = (plan.k + kSuperBlock - 1) / kSuperBlock;
  int64_t pieces = 0;
  for (int64_t i = 0; i < plan.matrices; ++i) {
    const Columns columns = plan.columns[i];
    pieces += (columns.end - columns.begin + group - 1) / group * parts;
  }
  const int64_t first = pieces * params.ith / params.nth;
  const int64_t last = pieces * (params.ith + 1) / params.nth;
  int64_t piece = 0;
  for (int64_t i = 0; i < plan.matrices && piece < last; ++i) {
    const Columns columns = plan.columns[i];
    for (int64_t column = columns.begin; column < columns.end; column += group, piece += parts) {
      const int64_t width = std::min(group, columns.end - column);
      const int64_t end = std::min(last - piece, parts);
      for (int64_t part = std::max(first - piece, int64_t{0}); part < end; ++part) {
        const int64_t begin = part * kSuperBlock;
        plan.kernel.convert(plan.sources + column, width, plan.k, begin,
                            std::min(plan.k, begin + kSuperBlock), plan.ActivationsFrom(column));
      }
    }
  }
}

// Threads take what comes next: they are not equally fast on a machine with other work.
void Multiply(const ggml_compute_params& params, const Plan& plan) {
  // Pairs of tiles, which the kernels compute together.
  const int64_t pairs = (plan.tiles + 1) / 2;
  const int64_t pieces = std::min<int64_t>(pairs, params.nth == 1 ? 1 : params.nth * 8);
  int64_t next = params.ith;
  int64_t first = 0;  // piece of the current matrix
  for (int64_t i = 0; i < plan.matrices; ++i) {
    const Columns columns = plan.columns[i];
    if (columns.begin == columns.end) continue;
    while (next < first + pieces) {
      const int64_t piece = next - first;
      plan.kernel.multiply(plan.Matrix(i), plan.k, piece * pairs / pieces * 2,
                           std::min(plan.tiles, (piece + 1) * pairs / pieces * 2),
                           plan.ActivationsFrom(columns.begin), columns.end - columns.begin,
                           plan.results + columns.begin);
      next = ggml_threadpool_chunk_add(params.threadpool, 1);
    }
    first += pieces;
  }
}

}  // namespace

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
  size = Plan(op, nullptr).bytes + 64;  // to align its start
  return true;
}

bool MatrixProducts::compute_forward(ggml_compute_params* params, ggml_tensor* op) {
  const auto start = (reinterpret_cast<uintptr_t>(params->wdata) + 63) / 64 * 64;
  const Plan plan(op, reinterpret_cast<void*>(start));
  const ggml_tensor* weights = op->src[0];
  GGML_ASSERT(start + plan.bytes <= reinterpret_cast<uintptr_t>(params->wdata) + params->wsize);
  GGML_ASSERT(op->src[1]->type == GGML_TYPE_F32 && op->src[1]->nb[0] == sizeof(float));
  GGML_ASSERT(op->type == GGML_TYPE_F32 && op->nb[0] == sizeof(float));
  // A view into weights must begin with a tile.
  GGML_ASSERT(HasProduct(weights) &&
              weights->view_offs % (weights->nb[1] * static_cast<size_t>(kTileRows)) == 0);

  if (params->ith == 0) {
    op->op == GGML_OP_MUL_MAT_ID ? PlanExperts(op, plan) : PlanOne(op, plan);
    ggml_threadpool_chunk_set(params->threadpool, params->nth);
  }
  ggml_barrier(params->threadpool);
  Convert(*params, plan);
  ggml_barrier(params->threadpool);
  Multiply(*params, plan);
  return true;
}

}  // namespace oi::kernels
