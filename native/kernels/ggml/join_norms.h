// What is changed in a graph before it is computed.

#pragma once

struct ggml_backend_graph_optimize_params;
struct ggml_cgraph;

namespace oi::kernels {

// Leaves each norm that only the product behind it needs to that product. `params`: of
// graph_optimize(), or null if the memory of the graph's tensors is not llama.cpp's to reuse.
void JoinNorms(ggml_cgraph* graph, ggml_backend_graph_optimize_params* params);

}  // namespace oi::kernels
