// The switch of the kernels, for the engine. Everything else happens where llama.cpp asks.
//
// Weights that have a kernel are converted when a model is loaded, into a buffer of a type of our
// own, and take the same memory there. Their matmuls, and attention, norms and RoPE, are then
// computed by the kernels on ggml's own threads. Whatever has no kernel is left to llama.cpp.

#pragma once

#include <cstdint>
#include <string>

struct ggml_threadpool;

namespace oi::kernels {

// While one lives, models that this thread loads, and contexts that it makes, use the kernels or
// not. Without one they do not. With `lock` the converted weights stay in RAM, as far as the system
// lets them. With `exact` a context's matmuls take 16 bits of each activation, not 8: results that
// are 100 times as exact, and cost twice as much.
class LoadScope {
 public:
  explicit LoadScope(bool use, bool lock = false, bool exact = false);
  ~LoadScope();
  LoadScope(const LoadScope&) = delete;
  LoadScope& operator=(const LoadScope&) = delete;

 private:
  bool before_;
  bool locked_before_;
  bool exact_before_;
};

// What is computed by this pool of threads uses the kernels while one lives.
class PoolScope {
 public:
  explicit PoolScope(const ggml_threadpool* pool);  // null for none
  ~PoolScope();
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

  // Whether the pool has computed attention so far, and always with the kernels.
  bool takes_all_attention() const;

 private:
  const ggml_threadpool* pool_;
};

// "AVX-512 VNNI and BF16"; "" if this CPU or this build has no kernels.
std::string Description();

// Whether matmuls with a matrix of `rows` rows of `k` weights of a type, by ggml's number, have a
// kernel here.
bool HasMatmul(int type, int64_t k, int64_t rows);

}  // namespace oi::kernels
