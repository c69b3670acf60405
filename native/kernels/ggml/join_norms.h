// Fuses norms in a graph before it is computed.

#pragma once

struct ggml_backend_graph_optimize_params;
struct ggml_cgraph;

namespace oi::kernels {

// Fuses each norm with the GGML_OP_MUL behind it, where nothing else needs the norm. `params`: of
// graph_optimize(), or null if the memory of the graph's tensors is not llama.cpp's to reuse.
void JoinNorms(ggml_cgraph* graph, ggml_backend_graph_optimize_params* params);

}  // namespace oi::kernels
