// Fuses the gates of feed-forward layers in a graph before it is computed.

#pragma once

struct ggml_backend_graph_optimize_params;
struct ggml_cgraph;
struct ggml_tensor;

namespace oi::kernels {

// Fuses two matmuls of our weights and the same activations whose results feed only a SwiGLU; their
// outputs are never stored. `params`: of graph_optimize(), or null if the
// memory of the graph's tensors is not llama.cpp's to reuse.
void JoinGates(ggml_cgraph* graph, ggml_backend_graph_optimize_params* params);

// Whether a SwiGLU computes its matmuls too.
bool ComputesProducts(const ggml_tensor* gate);

}  // namespace oi::kernels
