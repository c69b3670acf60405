#include "graph_cost.h"

#include "ggml.h"

namespace oi {
namespace {

// The cost of reading a weight, in columns that are multiplied with it.
constexpr double kColumnsPerRead = 8;
// The cost of a value of any other operation, in operations of a matmul.
constexpr double kOtherValue = 16;
// The cost of any operation for its barriers.
constexpr double kOperation = 2e5;

double Product(const ggml_tensor* weights, double columns) {
  const auto values = static_cast<double>(weights->ne[0] * weights->ne[1]);
  return values * (columns + kColumnsPerRead);
}

double Cost(const ggml_tensor* node) {
  switch (node->op) {
    case GGML_OP_NONE:
    case GGML_OP_VIEW:
    case GGML_OP_RESHAPE:
    case GGML_OP_PERMUTE:
    case GGML_OP_TRANSPOSE:
      return 0;
    case GGML_OP_MUL_MAT:
    case GGML_OP_MUL_MAT_ID:
      return kOperation + Product(node->src[0], static_cast<double>(ggml_nrows(node)));
    case GGML_OP_FLASH_ATTN_EXT: {
      const ggml_tensor* queries = node->src[0];
      const ggml_tensor* keys = node->src[1];
      return kOperation +
             static_cast<double>(ggml_nelements(queries)) * 2.0 * static_cast<double>(keys->ne[1]);
    }
    default:
      return kOperation + kOtherValue * static_cast<double>(ggml_nelements(node));
  }
}

}  // namespace

double GraphCost(ggml_cgraph* graph) {
  double cost = 0;
  for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) cost += Cost(ggml_graph_node(graph, i));
  return cost;
}

}  // namespace oi
