// What is changed in a graph before it is computed: gates of feed-forward layers.

#pragma once

struct ggml_backend_graph_optimize_params;
struct ggml_cgraph;
struct ggml_tensor;

namespace oi::kernels {

// Leaves two products of our weights with the same activations, which only the SwiGLU of the two
// needs, to that: what they give is never written. `params`: of graph_optimize(), or null if the
// memory of the graph's tensors is not llama.cpp's to reuse.
void JoinGates(ggml_cgraph* graph, ggml_backend_graph_optimize_params* params);

// Whether a SwiGLU's products are left to it.
bool ComputesProducts(const ggml_tensor* gate);

}  // namespace oi::kernels
