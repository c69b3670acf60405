// The pools of threads that compute with the kernels. (Matmuls of tiled weights need
// none: tiled weights are recognised by their buffer type.)

#pragma once

#include <atomic>
#include <cstdint>

struct ggml_threadpool;

namespace oi::kernels {

struct Pool {
  const ggml_threadpool* threads;
  std::atomic<uint64_t> attention_ours = 0;    // operations
  std::atomic<uint64_t> attention_others = 0;  // left to llama.cpp
};

// Adds a pool; with `on` false, removes it.
void SetPool(const ggml_threadpool* threads, bool on);

// Null if it was not added. A pool outlives the operations that it computes.
Pool* FindPool(const ggml_threadpool* threads);

}  // namespace oi::kernels
