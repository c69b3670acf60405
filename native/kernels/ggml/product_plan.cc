#include "product_plan.h"

#include "products.h"

namespace oi::kernels {

// Where an operation has the precision of its columns, of a value that ggml gives to none.
constexpr int kColumnsSlot = 3;
constexpr int32_t kExactColumns = 0x6F69;

void MakeExact(ggml_tensor* op) { op->op_params[kColumnsSlot] = kExactColumns; }
bool IsExact(const ggml_tensor* op) { return op->op_params[kColumnsSlot] == kExactColumns; }

std::optional<Format> FormatOf(ggml_type type) {
  switch (type) {
    case GGML_TYPE_Q8_0:
      return Format::kQ8_0;
    case GGML_TYPE_Q4_0:
      return Format::kQ4_0;
    case GGML_TYPE_Q4_1:
      return Format::kQ4_1;
    case GGML_TYPE_Q5_0:
      return Format::kQ5_0;
    case GGML_TYPE_Q5_1:
      return Format::kQ5_1;
    case GGML_TYPE_Q2_K:
      return Format::kQ2_K;
    case GGML_TYPE_Q3_K:
      return Format::kQ3_K;
    case GGML_TYPE_Q4_K:
      return Format::kQ4_K;
    case GGML_TYPE_Q5_K:
      return Format::kQ5_K;
    case GGML_TYPE_Q6_K:
      return Format::kQ6_K;
    case GGML_TYPE_IQ1_S:
      return Format::kIQ1_S;
    case GGML_TYPE_IQ1_M:
      return Format::kIQ1_M;
    case GGML_TYPE_IQ2_XXS:
      return Format::kIQ2_XXS;
    case GGML_TYPE_IQ2_XS:
      return Format::kIQ2_XS;
    case GGML_TYPE_IQ2_S:
      return Format::kIQ2_S;
    case GGML_TYPE_IQ3_XXS:
      return Format::kIQ3_XXS;
    case GGML_TYPE_IQ3_S:
      return Format::kIQ3_S;
    case GGML_TYPE_IQ4_NL:
      return Format::kIQ4_NL;
    case GGML_TYPE_IQ4_XS:
      return Format::kIQ4_XS;
    case GGML_TYPE_MXFP4:
      return Format::kMXFP4;
    case GGML_TYPE_NVFP4:
      return Format::kNVFP4;
    case GGML_TYPE_TQ2_0:
      return Format::kTQ2_0;
    case GGML_TYPE_BF16:
      return Format::kBF16;
    case GGML_TYPE_F16:
      return Format::kF16;
    case GGML_TYPE_F32:
      return Format::kF32;
    default:
      return std::nullopt;
  }
}

namespace {

// Any shape of activations against one matrix.
void FillOne(const ggml_tensor* op, const ggml_tensor* results, const Plan& plan) {
  const ggml_tensor* from = op->src[1];
  int64_t column = 0;
  for (int64_t i3 = 0; i3 < op->ne[3]; ++i3) {
    for (int64_t i2 = 0; i2 < op->ne[2]; ++i2) {
      for (int64_t i1 = 0; i1 < op->ne[1]; ++i1, ++column) {
        const auto at = [&](const ggml_tensor* t) {
          return static_cast<char*>(t->data) + i1 * t->nb[1] + i2 * t->nb[2] + i3 * t->nb[3];
        };
        plan.sources[column] = reinterpret_cast<const float*>(at(from));
        plan.results[column] = reinterpret_cast<float*>(at(results));
      }
    }
  }
  plan.columns[0] = {0, column};
}

// Each column against the expert that op->src[2] names for it: sorted by expert.
void FillExperts(const ggml_tensor* op, const ggml_tensor* results, const Plan& plan) {
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
      plan.results[column] = reinterpret_cast<float*>(
          static_cast<char*>(results->data) + slot * results->nb[1] + token * results->nb[2]);
    }
  }
}

// Behind each column its residual, whose results are apart.
void InsertResiduals(const Plan& plan) {
  const int64_t rows = plan.tiles * kTileRows;
  for (int64_t i = plan.given - 1; i >= 0; --i) {
    plan.sources[2 * i] = plan.sources[i];
    plan.results[2 * i] = plan.results[i];
    plan.sources[2 * i + 1] = plan.residuals + i * plan.k;
    plan.results[2 * i + 1] = plan.parts + i * rows;
  }
  for (int64_t i = 0; i < plan.matrices; ++i) {
    plan.columns[i].begin *= 2;
    plan.columns[i].end *= 2;
  }
}

// Of those of a group's columns that are residuals, values begin to end.
void FindResiduals(const Plan& plan, int64_t column, int64_t width, int64_t begin, int64_t end) {
  if (plan.copies == 1) return;
  for (int64_t c = column | 1; c < column + width; c += 2) {
    plan.kernel.residual(plan.sources[c - 1] + begin, end - begin,
                         plan.residuals + c / 2 * plan.k + begin);
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
        const int64_t part_end = std::min(plan.k, begin + kSuperBlock);
        FindResiduals(plan, column, width, begin, part_end);
        plan.kernel.convert(plan.sources + column, width, plan.k, begin, part_end,
                            plan.ActivationsFrom(column));
      }
    }
  }
}

}  // namespace

void Plan::TakeLastRows() const {
  const int64_t first = rows / kTileRows * kTileRows;
  for (int64_t c = 0; c < count; ++c) {
    std::copy_n(last_rows + c * kTileRows, rows - first, results[c] + first);
  }
}

void Plan::AddParts(Columns some, int64_t begin, int64_t end) const {
  if (copies == 1) return;
  for (int64_t c = some.begin; c < some.end; c += 2) {
    for (int64_t row = begin * kTileRows; row < std::min(rows, end * kTileRows); ++row) {
      results[c][row] += results[c + 1][row];
    }
  }
}

Plan StartPlan(const ggml_compute_params& params, const ggml_tensor* op,
               const ggml_tensor* results) {
  const auto start = (reinterpret_cast<uintptr_t>(params.wdata) + 63) / 64 * 64;
  const Plan plan(op, reinterpret_cast<void*>(start));
  GGML_ASSERT(plan.WorkBytes() <= params.wsize);
  GGML_ASSERT(op->src[1]->type == GGML_TYPE_F32 && op->src[1]->nb[0] == sizeof(float));
  GGML_ASSERT(results->type == GGML_TYPE_F32 && results->nb[0] == sizeof(float));
  // A view into weights must begin with a tile.
  GGML_ASSERT(HasProduct(plan.weights) && plan.weights->view_offs % plan.TileBytes() == 0);

  if (params.ith == 0) {
    op->op == GGML_OP_MUL_MAT_ID ? FillExperts(op, results, plan) : FillOne(op, results, plan);
    if (plan.copies == 2) InsertResiduals(plan);
    if (plan.rows % kTileRows != 0) {
      for (int64_t c = 0; c < plan.count; ++c)
        plan.last_results[c] = plan.last_rows + c * kTileRows;
    }
    ggml_threadpool_chunk_set(params.threadpool, params.nth);
  }
  ggml_barrier(params.threadpool);
  Convert(params, plan);
  ggml_barrier(params.threadpool);
  return plan;
}

}  // namespace oi::kernels
