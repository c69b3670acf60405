// Builds the graph of a pass (graph_forward.h).

#pragma once

#include <cstddef>
#include <vector>

#include "forward.h"
#include "ggml.h"
#include "prefix_weights.h"

namespace oi {

// Rows whose attention is computed together.
struct GraphPiece {
  size_t first;  // of the step's rows
  size_t count;
  // Of all rows: kept, or of this step.
  const KeptCells* kept = nullptr;
  kernels::SeenCells state{};
  // Whether rows see some of each other, too.
  bool own = false;
};

std::vector<GraphPiece> PiecesOf(const ForwardStep& step);

// [cells of the state, then of the piece][rows of the piece]: 0 where a row sees a cell, else
// -infinity. All rows see all of the state.
std::vector<float> MaskOf(const ForwardStep& step, const GraphPiece& piece);

class GraphBuilder {
 public:
  GraphBuilder(ggml_context* context, ggml_cgraph* graph, const PrefixWeights& weights,
               ggml_type cells, const ForwardStep& step, const std::vector<GraphPiece>& pieces)
      : context_(context),
        graph_(graph),
        weights_(weights),
        cell_type_(cells),
        step_(step),
        pieces_(pieces),
        width_(static_cast<int64_t>(weights.width)),
        heads_(static_cast<int64_t>(weights.heads)) {}

  // The states of the outputs.
  ggml_tensor* Build();

  ggml_tensor* tokens = nullptr;
  ggml_tensor* positions = nullptr;
  ggml_tensor* types = nullptr;
  ggml_tensor* outputs = nullptr;
  std::vector<ggml_tensor*> masks;  // of each piece; null without

 private:
  ggml_tensor* Input(ggml_type type, size_t columns, size_t rows) {
    ggml_tensor* input = ggml_new_tensor_2d(context_, type, static_cast<int64_t>(columns),
                                            static_cast<int64_t>(rows));
    ggml_set_input(input);
    return input;
  }

  ggml_tensor* Times(const PrefixWeights::Linear& linear, ggml_tensor* x) {
    return ggml_add(context_, ggml_mul_mat(context_, linear.weights, x), linear.bias);
  }

  ggml_tensor* Norm(ggml_tensor* x, const PrefixWeights::Norm& norm) {
    x = ggml_mul(context_, ggml_norm(context_, x, weights_.epsilon), norm.weights);
    return ggml_add(context_, x, norm.shift);
  }

  // Of rows [first, first + count) of [rows][width]: [count][heads][size].
  ggml_tensor* Heads(ggml_tensor* rows, size_t first, size_t count) {
    const size_t size = rows->nb[1] / weights_.heads;
    return ggml_view_3d(context_, rows, width_ / heads_, heads_, static_cast<int64_t>(count), size,
                        rows->nb[1], first * rows->nb[1]);
  }

  // The keys (0) or values (1) of a state, in a layer.
  ggml_tensor* KeptRows(const KeptCells& kept, size_t layer, size_t half) {
    ggml_tensor* all = kept.tensor();
    return ggml_view_2d(context_, all, width_, all->ne[1], all->nb[1],
                        (2 * layer + half) * all->nb[2]);
  }

  void Keep(ggml_tensor* rows, size_t layer, size_t half) {
    for (size_t i = 0; i < step_.parts.size(); ++i) {
      if (step_.kept[i].keep == nullptr) continue;
      const kernels::StepPart& part = step_.parts[i];
      ggml_tensor* from = ggml_view_2d(context_, rows, width_, static_cast<int64_t>(part.count),
                                       rows->nb[1], part.first * rows->nb[1]);
      ggml_tensor* to = KeptRows(*step_.kept[i].keep, layer, half);
      ggml_build_forward_expand(graph_, ggml_cpy(context_, from, to));
    }
  }

  ggml_tensor* ToCells(ggml_tensor* x) {
    return x->type == cell_type_ ? x : ggml_cast(context_, x, cell_type_);
  }

  ggml_tensor* Scores(ggml_tensor* keys, ggml_tensor* queries) {
    ggml_tensor* scores = ggml_mul_mat(context_, ggml_permute(context_, keys, 0, 2, 1, 3), queries);
    ggml_prec_set_acc(scores, GGML_PREC_F32);
    return scores;
  }

  // Of [rows][heads][size] values and the weights of their cells.
  ggml_tensor* Sum(ggml_tensor* values, ggml_tensor* weights) {
    ggml_tensor* turned = ggml_cont(context_, ggml_permute(context_, values, 1, 2, 0, 3));
    ggml_tensor* sum = ggml_mul_mat(context_, turned, weights);
    ggml_prec_set_acc(sum, GGML_PREC_F32);
    return sum;
  }

  ggml_tensor* Attention(ggml_tensor* x, const PrefixWeights::Layer& layer, size_t index);

  ggml_tensor* AttentionOf(const GraphPiece& piece, ggml_tensor* mask, ggml_tensor* queries,
                           ggml_tensor* keys, ggml_tensor* values, size_t layer);

  ggml_context* const context_;
  ggml_cgraph* const graph_;
  const PrefixWeights& weights_;
  const ggml_type cell_type_;
  const ForwardStep& step_;
  const std::vector<GraphPiece>& pieces_;
  const int64_t width_;
  const int64_t heads_;
};

}  // namespace oi
