// The pools of threads that compute with the kernels. (Matmuls of tiled weights need
// none: tiled weights are recognised by their buffer type.)

#pragma once

#include <atomic>
#include <cstdint>

#include "cell_order.h"

struct ggml_threadpool;

namespace oi::kernels {

struct Pool {
  Pool(const ggml_threadpool* threads, const CellOrder* order) : threads(threads), cells(order) {}

  const ggml_threadpool* threads;
  OrderedCells cells;
  std::atomic<uint64_t> attention_ours = 0;    // operations
  std::atomic<uint64_t> attention_others = 0;  // left to llama.cpp
  // Operations of which a row's result depends on what else is computed, or on where its cells lie.
  std::atomic<uint64_t> dependent = 0;
};

void AddPool(const ggml_threadpool* threads, const CellOrder* order);
void RemovePool(const ggml_threadpool* threads);

// Null if it was not added. A pool outlives the operations that it computes.
Pool* FindPool(const ggml_threadpool* threads);

}  // namespace oi::kernels
