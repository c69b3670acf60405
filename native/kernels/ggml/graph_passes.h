// What is changed in a graph before it is computed. `params`: of graph_optimize(), or null if the
// memory of the graph's tensors is not llama.cpp's to reuse.

#pragma once

struct ggml_backend_graph_optimize_params;
struct ggml_cgraph;
struct ggml_tensor;

namespace oi::kernels {

// False if another node computes this one too.
bool IsComputed(const ggml_tensor* op);

// Fuses each norm with the GGML_OP_MUL behind it, where nothing else needs the norm.
void JoinNorms(ggml_cgraph* graph, ggml_backend_graph_optimize_params* params);

// Fuses two matmuls of our weights and the same activations whose results feed only a SwiGLU; their
// outputs are never stored.
void JoinGates(ggml_cgraph* graph, ggml_backend_graph_optimize_params* params);
// Whether a SwiGLU computes its matmuls too.
bool ComputesProducts(const ggml_tensor* gate);

// Without a cache, as in an encoder, llama.cpp casts keys and values to half precision before
// attention: ours reads them as they are.
void SkipCasts(ggml_cgraph* graph);

// Exact matmuls: each column of activations becomes two, itself as it is rounded and what that
// leaves, so that 16 bits of its values are multiplied instead of 8; their results are added. Of a
// matmul, before it is planned. It has effect where the weights lie as tiles.
void MakeExact(ggml_tensor* op);
bool IsExact(const ggml_tensor* op);

}  // namespace oi::kernels
