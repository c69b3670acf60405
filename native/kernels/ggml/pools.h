// The pools of threads that compute with the kernels. (Tiled weights need none: they say themselves
// whose they are.)

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

// `on` false takes it off again.
void SetPool(const ggml_threadpool* threads, bool on);

// Null if it is none of them. A pool outlives the operations that it computes.
Pool* FindPool(const ggml_threadpool* threads);

}  // namespace oi::kernels
