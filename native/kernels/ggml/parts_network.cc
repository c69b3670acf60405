#include <algorithm>
#include <cmath>
#include <cstring>

#include "ggml.h"
#include "parts_impl.h"

namespace oi::kernels {
namespace {

void AddRow(const ggml_tensor* rows, int32_t row, int64_t width, float* scratch, float* sum) {
  const auto* from =
      static_cast<const uint8_t*>(rows->data) + static_cast<size_t>(row) * rows->nb[1];
  const float* values = reinterpret_cast<const float*>(from);
  if (rows->type != GGML_TYPE_F32) {
    ggml_get_type_traits(rows->type)->to_float(from, scratch, width);
    values = scratch;
  }
  for (int64_t i = 0; i < width; ++i) sum[i] += values[i];
}

}  // namespace

void PartsForward::Impl::Convert(const ProductKernel& kernel, size_t count, int64_t k,
                                 const Work& my) const {
  const auto n = static_cast<int64_t>(count);
  for (int64_t column = 0; column < n; column += kernel.group) {
    const int64_t width = std::min(kernel.group, n - column);
    const size_t at = static_cast<size_t>(column) * kernel.activation_bytes(k, 1);
    kernel.convert(my.sources + column, width, k, 0, k, my.activations + at);
    if (!weights.exact || kernel.residual == nullptr) continue;
    const float* left[64];
    for (int64_t c = 0; c < width; ++c) {
      float* to = my.left + (column + c) * k;
      kernel.residual(my.sources[column + c], k, to);
      left[c] = to;
    }
    kernel.convert(left, width, k, 0, k, my.residuals + at);
  }
}

void PartsForward::Impl::Multiply(const Matrix& matrix, size_t count, const Work& my) const {
  const ProductKernel& kernel = *KernelOf(matrix, weights.exact);
  const int64_t k = matrix.weights->ne[0];
  const int64_t outputs_of = matrix.weights->ne[1];
  const auto n = static_cast<int64_t>(count);
  const auto* data = static_cast<const uint8_t*>(matrix.weights->data);
  kernel.multiply(data, k, 0, outputs_of / kTileRows, my.activations, n, my.results);
  if (!weights.exact || kernel.residual == nullptr) return;
  for (size_t i = 0; i < count; ++i) {
    my.part_results[i] = my.parts + i * static_cast<size_t>(outputs_of);
  }
  kernel.multiply(data, k, 0, outputs_of / kTileRows, my.residuals, n, my.part_results);
  for (size_t i = 0; i < count; ++i) rows.add_bias(my.results[i], my.part_results[i], outputs_of);
}

void PartsForward::Impl::Embed(const Piece& piece, const Work& my) const {
  for (size_t row = piece.first; row < piece.first + piece.count; ++row) {
    float* state = StateOf(row);
    std::memset(state, 0, static_cast<size_t>(weights.width) * sizeof(float));
    AddRow(weights.tokens, step->tokens[row], weights.width, my.rows, state);
    AddRow(weights.positions, step->positions[row], weights.width, my.rows, state);
    AddRow(weights.types, step->types[row], weights.width, my.rows, state);
    rows.layer_norm(state, nullptr, nullptr, weights.embedding.weights, weights.embedding.shift,
                    weights.width, weights.epsilon);
  }
}

void PartsForward::Impl::Begin(size_t index, const Piece& piece, const Work& my) {
  const PartsWeights::Layer& layer = weights.layers[index];
  const int64_t width = weights.width;
  const size_t count = piece.count;
  From(StateOf(piece.first), count, width, my);
  const ProductKernel* converted = nullptr;
  const auto multiply = [&](const Matrix& matrix) {
    const ProductKernel* kernel = KernelOf(matrix, weights.exact);
    if (kernel != converted) Convert(*kernel, count, width, my);
    converted = kernel;
    Multiply(matrix, count, my);
  };
  float* const own = queries + piece.first * static_cast<size_t>(width);
  To(own, count, width, my);
  multiply(layer.query);
  for (size_t i = 0; i < count; ++i) rows.add_bias(my.results[i], layer.query.bias, width);
  uint8_t* to = cells[index % 2] + piece.first * cell_bytes;
  for (const Matrix* matrix : {&layer.key, &layer.value}) {
    To(my.rows, count, width, my);
    multiply(*matrix);
    for (size_t i = 0; i < count; ++i) {
      rows.to_cell(my.results[i], matrix->bias, width, format, to + i * cell_bytes);
    }
    to += step->tokens.size() * cell_bytes;
  }
  Keep(index, piece);
}

void PartsForward::Impl::Keep(size_t index, const Piece& piece) const {
  const size_t end = piece.first + piece.count;
  const size_t rows_of_step = step->tokens.size();
  auto part = std::partition_point(
      step->parts.begin(), step->parts.end(),
      [&](const StepPart& one) { return one.first + one.count <= piece.first; });
  for (; part != step->parts.end() && part->first < end; ++part) {
    if (part->keep == nullptr) continue;
    const size_t from = std::max(part->first, piece.first);
    const size_t count = std::min(part->first + part->count, end) - from;
    for (size_t half = 0; half < 2; ++half) {
      uint8_t* to =
          part->keep + ((2 * index + half) * part->count + from - part->first) * cell_bytes;
      std::memcpy(to, cells[index % 2] + (half * rows_of_step + from) * cell_bytes,
                  count * cell_bytes);
    }
  }
}

void PartsForward::Impl::Attend(size_t index, const Piece& piece, bool last, const Work& my) const {
  const int64_t size = weights.width / weights.heads;
  PartTile tile;
  tile.size = size;
  tile.format = format;
  tile.scale = 1.0f / std::sqrt(static_cast<float>(size));
  tile.cell_stride = cell_bytes;
  tile.query_stride = tile.result_stride = static_cast<size_t>(weights.width) * sizeof(float);
  for (size_t i = piece.first_tile; i < piece.first_tile + piece.tiles; ++i) {
    const size_t first = tiles.first(i);
    if (last && !HasOutput(piece, first, first + tiles.rows(i))) continue;
    const size_t at = first * static_cast<size_t>(weights.width);
    tile.queries = queries + at;
    // In place: nobody else reads a row's queries.
    tile.results = queries + at;
    tile.rows = static_cast<int64_t>(tiles.rows(i));
    tile.blocks = tiles.blocks(index, i);
    tile.count = static_cast<int64_t>(tiles.block_count(i));
    for (int64_t head = 0; head < weights.heads; ++head) {
      attention.compute(tile, head, my.attention);
    }
  }
}

bool PartsForward::Impl::HasOutput(const Piece& piece, size_t begin, size_t end) const {
  const auto from = step->outputs.begin() + static_cast<ptrdiff_t>(piece.first_output);
  const auto it = std::lower_bound(from, from + static_cast<ptrdiff_t>(piece.outputs), begin);
  return it != from + static_cast<ptrdiff_t>(piece.outputs) && *it < end;
}

template <class State>
void PartsForward::Impl::Finish(size_t index, size_t count, State state, const Work& my) const {
  const PartsWeights::Layer& layer = weights.layers[index];
  const int64_t width = weights.width;
  const auto norm = [&](const PartsWeights::Norm& with, const Matrix& matrix) {
    for (size_t i = 0; i < count; ++i) {
      rows.layer_norm(state(i), my.results[i], matrix.bias, with.weights, with.shift, width,
                      weights.epsilon);
    }
  };
  Convert(*KernelOf(layer.output, weights.exact), count, width, my);
  To(my.rows, count, width, my);
  Multiply(layer.output, count, my);
  norm(layer.attention, layer.output);

  for (size_t i = 0; i < count; ++i) my.sources[i] = state(i);
  Convert(*KernelOf(layer.up, weights.exact), count, width, my);
  To(my.hidden, count, weights.hidden, my);
  Multiply(layer.up, count, my);
  for (size_t i = 0; i < count; ++i) rows.bias_gelu(my.results[i], layer.up.bias, weights.hidden);

  From(my.hidden, count, weights.hidden, my);
  Convert(*KernelOf(layer.down, weights.exact), count, weights.hidden, my);
  To(my.rows, count, width, my);
  Multiply(layer.down, count, my);
  norm(layer.feed_forward, layer.down);
}

void PartsForward::Impl::FinishLayer(size_t index, const Piece& piece, const Work& my) const {
  const auto width = static_cast<size_t>(weights.width);
  if (index + 1 < weights.layers.size()) {
    From(queries + piece.first * width, piece.count, weights.width, my);
    Finish(
        index, piece.count, [&](size_t i) { return StateOf(piece.first + i); }, my);
    return;
  }
  // Nothing is computed behind the last attention but what is wanted.
  for (size_t i = 0; i < piece.outputs; ++i) {
    const size_t output = piece.first_output + i;
    const size_t row = step->outputs[output];
    std::copy_n(StateOf(row), width, outputs + output * width);
    my.sources[i] = queries + row * width;
  }
  if (piece.outputs == 0) return;
  Finish(
      index, piece.outputs, [&](size_t i) { return outputs + (piece.first_output + i) * width; },
      my);
}

}  // namespace oi::kernels
