// Removes casts from a graph before it is computed.

#pragma once

struct ggml_cgraph;

namespace oi::kernels {

// Without a cache, as in an encoder, llama.cpp casts keys and values to half precision before
// attention: ours reads them as they are.
void SkipCasts(ggml_cgraph* graph);

}  // namespace oi::kernels
