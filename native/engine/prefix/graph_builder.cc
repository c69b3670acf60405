#include "graph_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace oi {
namespace {

using kernels::SeenCells;
using kernels::StepPart;

// Rows of a piece of attention, about: enough for a device, and few enough that what its rows do
// not see of each other costs little.
constexpr size_t kPieceRows = 256;
constexpr float kHidden = -std::numeric_limits<float>::infinity();

}  // namespace

std::vector<GraphPiece> PiecesOf(const ForwardStep& step) {
  std::vector<GraphPiece> pieces;
  for (size_t i = 0; i < step.parts.size(); ++i) {
    const StepPart& part = step.parts[i];
    if (part.levels == 0) {
      for (size_t at = 0; at < part.count; at += kPieceRows) {
        pieces.push_back({part.first + at,
                          std::min(kPieceRows, part.count - at),
                          nullptr,
                          {nullptr, part.first, part.count},
                          false});
      }
      continue;
    }
    GraphPiece* last = pieces.empty() ? nullptr : &pieces.back();
    const KeptCells* kept = step.kept[i].state;
    const SeenCells state{nullptr, kept != nullptr ? 0 : part.before[0].first,
                          part.before[0].count};
    // A question begins a piece, unless the last one has room and the same state.
    const bool joins = last != nullptr && last->own && last->kept == kept && last->state == state &&
                       (part.levels > 1 || last->count < kPieceRows);
    if (joins) {
      last->count += part.count;
    } else {
      pieces.push_back({part.first, part.count, kept, state, true});
    }
  }
  return pieces;
}

std::vector<float> MaskOf(const ForwardStep& step, const GraphPiece& piece) {
  const size_t cells = piece.state.count + piece.count;
  std::vector<float> mask(cells * piece.count, 0.0f);
  for (const StepPart& part : step.parts) {
    if (part.first < piece.first || part.first >= piece.first + piece.count) continue;
    for (size_t row = part.first; row < part.first + part.count; ++row) {
      float* line = mask.data() + (row - piece.first) * cells + piece.state.count;
      std::fill_n(line, piece.count, kHidden);
      const auto see = [&](const SeenCells& seen) {
        std::fill_n(line + seen.first - piece.first, seen.count, 0.0f);
      };
      see({nullptr, part.first, part.count});
      if (part.levels == 2) see(part.before[1]);
    }
  }
  return mask;
}

ggml_tensor* GraphBuilder::Build() {
  tokens = Input(GGML_TYPE_I32, step_.tokens.size(), 1);
  positions = Input(GGML_TYPE_I32, step_.tokens.size(), 1);
  types = Input(GGML_TYPE_I32, step_.tokens.size(), 1);
  outputs = Input(GGML_TYPE_I32, step_.outputs.size(), 1);
  for (const GraphPiece& piece : pieces_) {
    masks.push_back(piece.own ? Input(GGML_TYPE_F32, piece.state.count + piece.count, piece.count)
                              : nullptr);
  }
  ggml_tensor* x = ggml_get_rows(context_, weights_.tokens, tokens);
  x = ggml_add(context_, x, ggml_get_rows(context_, weights_.positions, positions));
  x = ggml_add(context_, x, ggml_get_rows(context_, weights_.types, types));
  x = Norm(x, weights_.embedding);
  for (size_t i = 0; i < weights_.layers.size(); ++i) {
    const PrefixWeights::Layer& layer = weights_.layers[i];
    ggml_tensor* attended = Attention(x, layer, i);
    if (i + 1 == weights_.layers.size()) {
      attended = ggml_get_rows(context_, attended, outputs);
      x = ggml_get_rows(context_, x, outputs);
    }
    x = Norm(ggml_add(context_, x, Times(layer.output, attended)), layer.attention);
    ggml_tensor* hidden = ggml_gelu(context_, Times(layer.up, x));
    x = Norm(ggml_add(context_, x, Times(layer.down, hidden)), layer.feed_forward);
  }
  ggml_set_output(x);
  ggml_build_forward_expand(graph_, x);
  return x;
}

ggml_tensor* GraphBuilder::Attention(ggml_tensor* x, const PrefixWeights::Layer& layer,
                                     size_t index) {
  ggml_tensor* queries = Times(layer.query, x);
  ggml_tensor* keys = ToCells(Times(layer.key, x));
  ggml_tensor* values = ToCells(Times(layer.value, x));
  Keep(keys, index, 0);
  Keep(values, index, 1);
  ggml_tensor* all = nullptr;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    ggml_tensor* piece = AttentionOf(pieces_[i], masks[i], queries, keys, values, index);
    all = all == nullptr ? piece : ggml_concat(context_, all, piece, 1);
  }
  return all;
}

ggml_tensor* GraphBuilder::AttentionOf(const GraphPiece& piece, ggml_tensor* mask,
                                       ggml_tensor* queries, ggml_tensor* keys, ggml_tensor* values,
                                       size_t layer) {
  const auto state_rows = [&](ggml_tensor* rows, size_t half) {
    return piece.kept != nullptr ? Heads(KeptRows(*piece.kept, layer, half), 0, piece.state.count)
                                 : Heads(rows, piece.state.first, piece.state.count);
  };
  ggml_tensor* asked = ggml_permute(context_, Heads(queries, piece.first, piece.count), 0, 2, 1, 3);
  ggml_tensor* scores = Scores(state_rows(keys, 0), asked);
  if (piece.own) {
    ggml_tensor* own = Scores(Heads(keys, piece.first, piece.count), asked);
    scores = ggml_concat(context_, scores, own, 0);
  }
  const float scale = 1.0f / std::sqrt(static_cast<float>(width_ / heads_));
  ggml_tensor* weights = ggml_soft_max_ext(context_, scores, mask, scale, 0.0f);
  ggml_tensor* sum = nullptr;
  if (piece.own) {
    const auto some = [&](size_t first, size_t count) {
      ggml_tensor* view =
          ggml_view_3d(context_, weights, static_cast<int64_t>(count), weights->ne[1],
                       weights->ne[2], weights->nb[1], weights->nb[2], first * sizeof(float));
      return ggml_cont(context_, view);
    };
    sum = ggml_add(
        context_, Sum(state_rows(values, 1), some(0, piece.state.count)),
        Sum(Heads(values, piece.first, piece.count), some(piece.state.count, piece.count)));
  } else {
    sum = Sum(state_rows(values, 1), weights);
  }
  return ggml_cont_2d(context_, ggml_permute(context_, sum, 0, 2, 1, 3), width_,
                      static_cast<int64_t>(piece.count));
}

}  // namespace oi
