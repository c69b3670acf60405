// How much work a graph is, to compare graphs with one another: an estimate, in operations.

#pragma once

struct ggml_cgraph;

namespace oi {

double GraphCost(ggml_cgraph* graph);

}  // namespace oi
