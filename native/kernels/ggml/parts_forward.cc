#include "../parts_forward.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "../rows.h"
#include "buffer_type.h"
#include "ggml-backend-impl.h"
#include "ggml-cpu-impl.h"
#include "ggml.h"
#include "parts_impl.h"

namespace oi::kernels {
namespace {

using Matrix = PartsWeights::Matrix;

// Rows that a thread computes at a time: enough that unpacking weights costs little, and few enough
// that what is computed of them stays in the second cache.
constexpr size_t kRowsAtOnce = 96;

bool IsTiled(const Matrix& matrix, bool exact) {
  const ggml_tensor* weights = matrix.weights;
  return matrix.bias != nullptr && weights->buffer != nullptr &&
         weights->buffer->buft == BufferType() && weights->ne[1] % kTileRows == 0 &&
         KernelOf(matrix, exact) != nullptr;
}

bool IsRows(const ggml_tensor* rows) {
  return rows->buffer != nullptr && ggml_backend_buffer_is_host(rows->buffer) &&
         (rows->type == GGML_TYPE_F32 || ggml_get_type_traits(rows->type)->to_float != nullptr);
}

}  // namespace

bool HasPartsForward(const PartsWeights& weights) {
  if (FindPartAttention() == nullptr || FindRows() == nullptr) return false;
  if (weights.width % weights.heads != 0 || weights.width / weights.heads % 16 != 0) return false;
  if (weights.hidden % 16 != 0) return false;
  for (const ggml_tensor* rows : {weights.tokens, weights.positions, weights.types}) {
    if (!IsRows(rows)) return false;
  }
  return std::all_of(weights.layers.begin(), weights.layers.end(), [&](const auto& layer) {
    const Matrix all[] = {layer.query, layer.key, layer.value, layer.output, layer.up, layer.down};
    return std::all_of(std::begin(all), std::end(all),
                       [&](const Matrix& one) { return IsTiled(one, weights.exact); });
  });
}

PartsForward::Impl::Impl(const PartsWeights& given, CacheFormat cell_format)
    : weights(given),
      format(cell_format),
      attention(*FindPartAttention()),
      rows(*FindRows()),
      cell_bytes(static_cast<size_t>(given.width) * BytesOf(cell_format)),
      tiles(attention.rows),
      next(new std::atomic<size_t>[given.layers.size() + 1]),
      stopped(new std::atomic<bool>[given.layers.size() + 1]) {}

void PartsForward::Impl::Divide(int threads) {
  pieces.clear();
  widest = 0;
  const size_t count = step->tokens.size();
  const size_t each = (count + static_cast<size_t>(threads) - 1) / static_cast<size_t>(threads);
  const size_t most = std::max<size_t>(std::min(kRowsAtOnce, each), 1);
  size_t output = 0;
  for (size_t tile = 0; tile < tiles.count();) {
    Piece piece{tile, 0, tiles.first(tile), 0, output, 0};
    while (tile < tiles.count() && (piece.count == 0 || piece.count + tiles.rows(tile) <= most)) {
      piece.count += tiles.rows(tile++);
      ++piece.tiles;
    }
    const size_t end = piece.first + piece.count;
    for (; output < step->outputs.size() && step->outputs[output] < end; ++output) {
      ++piece.outputs;
    }
    widest = std::max(widest, piece.count);
    pieces.push_back(piece);
  }
}

size_t PartsForward::Impl::MostActivationBytes(int64_t k, size_t columns) const {
  size_t most = 0;
  for (const auto& layer : weights.layers) {
    for (const Matrix* matrix :
         {&layer.query, &layer.key, &layer.value, &layer.output, &layer.up, &layer.down}) {
      const ProductKernel& kernel = *KernelOf(*matrix, weights.exact);
      if (matrix->weights->ne[0] > k) continue;
      const auto n = static_cast<int64_t>(columns);
      most = std::max(most, kernel.activation_bytes(matrix->weights->ne[0], n));
    }
  }
  return most;
}

void PartsForward::Impl::Reserve(int threads) {
  const size_t count = step->tokens.size();
  const auto width = static_cast<size_t>(weights.width);
  const auto hidden = static_cast<size_t>(std::max(weights.hidden, weights.width));
  const size_t row_bytes = Aligned(count * width * sizeof(float));
  const size_t layer_bytes = Aligned(2 * count * cell_bytes);
  memory.Reserve(2 * row_bytes + 2 * layer_bytes +
                 Aligned(step->outputs.size() * width * sizeof(float)));
  uint8_t* at = memory.data();
  const auto take = [&at](size_t bytes) { return std::exchange(at, at + Aligned(bytes)); };
  const auto floats = [&](size_t n) { return reinterpret_cast<float*>(take(n * sizeof(float))); };
  states = floats(count * width);
  queries = floats(count * width);
  cells[0] = take(2 * count * cell_bytes);
  cells[1] = take(2 * count * cell_bytes);
  outputs = floats(step->outputs.size() * width);

  const auto longest = static_cast<int64_t>(hidden);
  const size_t activation_bytes = MostActivationBytes(longest, widest);
  const size_t scratch_bytes = attention.scratch_bytes(weights.width / weights.heads);
  const size_t left = weights.exact ? widest * hidden : 0;
  const size_t pointers = 3 * Aligned(widest * sizeof(float*));
  const size_t each = Aligned(scratch_bytes) + 2 * Aligned(activation_bytes) +
                      2 * Aligned(left * sizeof(float)) + Aligned(widest * width * sizeof(float)) +
                      Aligned(widest * hidden * sizeof(float)) + pointers;
  work_memory.Reserve(static_cast<size_t>(threads) * each);
  at = work_memory.data();
  work.resize(static_cast<size_t>(threads));
  for (Work& one : work) {
    one.attention = take(scratch_bytes);
    one.activations = take(activation_bytes);
    one.residuals = take(activation_bytes);
    one.left = floats(left);
    one.parts = floats(left);
    one.rows = floats(widest * width);
    one.hidden = floats(widest * hidden);
    one.sources = reinterpret_cast<const float**>(take(widest * sizeof(float*)));
    one.results = reinterpret_cast<float**>(take(widest * sizeof(float*)));
    one.part_results = reinterpret_cast<float**>(take(widest * sizeof(float*)));
  }
}

PartsForward::PartsForward(const PartsWeights& weights, CacheFormat format)
    : impl_(std::make_unique<Impl>(weights, format)) {}
PartsForward::~PartsForward() = default;

void PartsForward::Prepare(const PartsStep& step, int threads) {
  Impl& my = *impl_;
  my.step = &step;
  my.tiles.Divide(step);
  my.Divide(threads);
  my.Reserve(threads);
  my.tiles.Point(step, my.weights.layers.size(), my.cells, my.cell_bytes);
  for (size_t i = 0; i <= my.weights.layers.size(); ++i) {
    my.next[i].store(0, std::memory_order_relaxed);
    my.stopped[i].store(false, std::memory_order_relaxed);
  }
  my.stop = false;
  const auto width = static_cast<double>(my.weights.width);
  const auto layers = static_cast<double>(my.weights.layers.size());
  const auto count = static_cast<double>(step.tokens.size());
  const double matrices = 4 * width * width + 2 * width * static_cast<double>(my.weights.hidden);
  my.cost = layers * (count * matrices + 2 * width * my.tiles.pairs());
}

void PartsForward::Compute(int thread, int, ggml_threadpool* pool, bool (*abort)(void*),
                           void* abort_data) {
  Impl& my = *impl_;
  Impl::Work& work = my.work[static_cast<size_t>(thread)];
  const size_t layers = my.weights.layers.size();
  my.ForEachPiece(my.next[0], [&](const Impl::Piece& piece) {
    my.Embed(piece, work);
    my.Begin(0, piece, work);
  });
  for (size_t i = 0; i < layers; ++i) {
    if (thread == 0) my.stopped[i].store(abort(abort_data), std::memory_order_relaxed);
    ggml_barrier(pool);
    if (my.stopped[i].load(std::memory_order_relaxed)) {
      if (thread == 0) my.stop = true;
      return;
    }
    const bool last = i + 1 == layers;
    my.ForEachPiece(my.next[i + 1], [&](const Impl::Piece& piece) {
      my.Attend(i, piece, last, work);
      my.FinishLayer(i, piece, work);
      if (!last) my.Begin(i + 1, piece, work);
    });
  }
}

bool PartsForward::aborted() const { return impl_->stop; }
const float* PartsForward::states() const { return impl_->outputs; }
double PartsForward::cost() const { return impl_->cost; }

}  // namespace oi::kernels
