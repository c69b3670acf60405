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

// The order of a KV cache's cells in their sequences, which is not that in which they lie: a
// sequence goes on wherever there is room. Read while a graph is computed.
class CellOrder {
 public:
  virtual ~CellOrder() = default;
  // The number of the cache whose keys, of one layer, lie here, from 0; -1 for none.
  virtual int Find(const void* keys) const = 0;
  // Of each of the first `count` cells: of two in a sequence, the later one's is higher.
  virtual void Read(int cache, int64_t count, int64_t* ranks) const = 0;
};

// What is computed by this pool of threads uses the kernels while one lives.
class PoolScope {
 public:
  // `pool`: null for none. `order`, of the cells that attention is computed over: null if it is
  // not known, and then results depend on where cells lie.
  PoolScope(const ggml_threadpool* pool, const CellOrder* order);
  ~PoolScope();
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

  // Whether the pool has computed attention so far, and always with the kernels.
  bool takes_all_attention() const;
  // And whether every result so far was the same, in every bit, as in any other company: of other
  // rows, in other batches, by other threads, with its cells elsewhere.
  bool invariant() const;

 private:
  const ggml_threadpool* pool_;
};

// "AVX-512 VNNI and BF16"; "" if this CPU or this build has no kernels.
std::string Description();

// Whether matmuls with matrices of `rows` rows of `k` weights of a type, by ggml's number, have a
// kernel here. `matrices`: those of one tensor, one for each expert.
bool HasMatmul(int type, int64_t k, int64_t rows, int64_t matrices);

}  // namespace oi::kernels
