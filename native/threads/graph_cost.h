// Estimates the work of a graph, in operations, to compare graphs with one another.

#pragma once

struct ggml_cgraph;

namespace oi {

double GraphCost(ggml_cgraph* graph);

}  // namespace oi
