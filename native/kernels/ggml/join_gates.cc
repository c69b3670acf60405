#include "../format.h"
#include "../rows.h"
#include "buffer_type.h"
#include "ggml-backend-impl.h"
#include "ggml-impl.h"
#include "graph_passes.h"
#include "op_params.h"

namespace oi::kernels {
namespace {

bool IsSplitSwiglu(const ggml_tensor* op) {
  return op->op == GGML_OP_GLU && ggml_get_glu_op(op) == GGML_GLU_OP_SWIGLU &&
         op->src[1] != nullptr && op->type == GGML_TYPE_F32 && KnowsParams(op, kGateSlots);
}

bool IsOurProduct(const ggml_tensor* op) {
  return IsTiledProduct(op) && KnowsParams(op, kProductSlots) && IsComputed(op);
}

// Of the same columns, and experts, with as many rows of one type, in whole tiles.
bool AreAlike(const ggml_tensor* a, const ggml_tensor* b) {
  return a != b && a->ne[0] % kTileRows == 0 && a->op == b->op && a->src[1] == b->src[1] &&
         a->src[2] == b->src[2] && a->src[0]->type == b->src[0]->type &&
         ggml_are_same_shape(a->src[0], b->src[0]);
}

// Whether only node `user` of the graph, not far behind it, needs this one's result.
bool IsNeededOnce(const ggml_cgraph* graph, const ggml_tensor* node, int user) {
  constexpr int kNear = 8;
  for (int i = user - 1; i >= 0 && i >= user - kNear; --i) {
    if (graph->nodes[i] == node) return ggml_node_has_n_uses(graph, i, 1);
  }
  return false;
}

}  // namespace

bool IsComputed(const ggml_tensor* op) { return (op->flags & GGML_TENSOR_FLAG_COMPUTE) != 0; }

void JoinGates(ggml_cgraph* graph, ggml_backend_graph_optimize_params* params) {
  if (FindRows() == nullptr) return;
  for (int i = 0; i < graph->n_nodes; ++i) {
    ggml_tensor* gate = graph->nodes[i];
    if (!IsSplitSwiglu(gate) || !IsComputed(gate)) continue;
    ggml_tensor* const gates = gate->src[0];
    ggml_tensor* const values = gate->src[1];
    if (!IsOurProduct(gates) || !IsOurProduct(values) || !AreAlike(gates, values)) continue;
    if (!IsNeededOnce(graph, gates, i) || !IsNeededOnce(graph, values, i)) continue;
    for (ggml_tensor* product : {gates, values}) product->flags &= ~GGML_TENSOR_FLAG_COMPUTE;
    if (params == nullptr) continue;
    for (ggml_tensor* source : {gates->src[1], gates->src[2]}) {
      if (source != nullptr) params->add_alloc_dep(params->user_data, source, gate);
    }
  }
}

bool ComputesProducts(const ggml_tensor* gate) {
  return IsSplitSwiglu(gate) && gate->src[0]->op != GGML_OP_NONE && !IsComputed(gate->src[0]) &&
         !IsComputed(gate->src[1]);
}

}  // namespace oi::kernels
