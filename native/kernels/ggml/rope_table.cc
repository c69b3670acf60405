#include "rope_table.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include "ggml-cpu-impl.h"
#include "ops.h"

namespace oi::kernels {
namespace {

// No position is negative.
constexpr Position kNone{-1, -1, -1, -1};

int32_t PairsOf(const ggml_tensor* op) { return op->op_params[1] / 2; }

ggml_tensor Tensor(ggml_type type, int64_t length, void* data) {
  ggml_tensor tensor{};
  tensor.type = type;
  tensor.data = data;
  tensor.ne[0] = length;
  tensor.nb[0] = ggml_type_size(type);
  for (int i = 1; i < GGML_MAX_DIMS; ++i) {
    tensor.ne[i] = 1;
    tensor.nb[i] = tensor.nb[0] * static_cast<size_t>(length);
  }
  return tensor;
}

}  // namespace

bool PairsAreHalves(const ggml_tensor* op) { return op->op_params[2] != GGML_ROPE_TYPE_NORMAL; }

RopeTable::RopeTable(const ggml_tensor* op)
    : pairs_(PairsOf(op)),
      halves_(PairsAreHalves(op)),
      known_(kSlots, kNone),
      row_(static_cast<size_t>(pairs_) * (halves_ ? 2 : 4)),
      scratch_(static_cast<size_t>(pairs_) * 4 + CACHE_LINE_SIZE_F32) {
  std::copy_n(op->op_params, params_.size(), params_.begin());
  if (const ggml_tensor* factors = op->src[2]; factors != nullptr) {
    const auto* data = static_cast<const float*>(factors->data);
    factors_.assign(data, data + pairs_);
  }
  tables_.resize(kSlots * row_);
}

bool RopeTable::IsFor(const ggml_tensor* op) const {
  if (!std::equal(params_.begin(), params_.end(), op->op_params)) return false;
  const ggml_tensor* factors = op->src[2];
  if (factors == nullptr) return factors_.empty();
  return !factors_.empty() &&
         std::memcmp(factors_.data(), factors->data, factors_.size() * sizeof(float)) == 0;
}

const float* RopeTable::At(const Position& position) {
  const size_t slot = static_cast<uint32_t>(position[0]) % kSlots;
  float* table = tables_.data() + slot * row_;
  if (known_[slot] != position) {
    Compute(position, table);
    known_[slot] = position;
  }
  return table;
}

// Rotated by llama.cpp, the pair (1, 0) is a cosine and a sine, whatever the parameters mean.
void RopeTable::Compute(const Position& position, float* table) {
  const auto count = static_cast<size_t>(2 * pairs_);
  float* ones = scratch_.data();
  float* rotated = halves_ ? table : table + count;
  for (size_t i = 0; i < count; ++i) {
    const bool first = halves_ ? i < count / 2 : i % 2 == 0;
    ones[i] = first ? 1.0f : 0.0f;
  }
  Position positions = position;
  ggml_tensor values = Tensor(GGML_TYPE_F32, 2 * pairs_, ones);
  ggml_tensor at = Tensor(GGML_TYPE_I32, 4, positions.data());
  ggml_tensor factors = Tensor(GGML_TYPE_F32, pairs_, factors_.data());
  ggml_tensor op = Tensor(GGML_TYPE_F32, 2 * pairs_, rotated);
  op.op = GGML_OP_ROPE;
  std::copy(params_.begin(), params_.end(), op.op_params);
  op.src[0] = &values;
  op.src[1] = &at;
  op.src[2] = factors_.empty() ? nullptr : &factors;
  ggml_compute_params params{};
  params.nth = 1;
  params.wdata = scratch_.data() + count;
  params.wsize = (scratch_.size() - count) * sizeof(float);
  ggml_compute_forward_rope(&params, &op);
  if (halves_) return;
  for (size_t i = 0; i < count; i += 2) {
    const float cosine = rotated[i];
    const float sine = rotated[i + 1];
    table[i] = table[i + 1] = cosine;
    rotated[i] = -sine;
    rotated[i + 1] = sine;
  }
}

RopeTable& RopeTableFor(const ggml_tensor* op) {
  // A model has one kind, or one for each of two kinds of layers; a thread is one model's.
  constexpr size_t kKinds = 4;
  thread_local std::deque<RopeTable> kinds;
  for (RopeTable& known : kinds) {
    if (known.IsFor(op)) return known;
  }
  if (kinds.size() == kKinds) kinds.pop_front();
  return kinds.emplace_back(op);
}

}  // namespace oi::kernels
