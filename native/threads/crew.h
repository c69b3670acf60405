// The threads that compute the graphs of one engine: ggml's pool, their barrier, and the choice of
// how many take part.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "barrier.h"
#include "core_shares.h"
#include "thread_choice.h"

struct ggml_cgraph;
struct ggml_threadpool;

namespace oi {

class Crew {
 public:
  // `adapts`: whether fewer than `threads` may compute a graph. Throws std::runtime_error if the
  // pool cannot be made.
  Crew(uint32_t threads, bool adapts);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  ggml_threadpool* pool() const { return pool_; }
  Barrier& barrier() { return barrier_; }
  // From the next graph on. Of the thread that computes.
  void Adapt() { adapts_ = true; }

  // Around a graph that could be computed by `most` threads: how many are to.
  uint32_t Begin(uint32_t most);
  void End(ggml_cgraph* graph);

 private:
  ggml_threadpool* pool_;
  const uint32_t threads_;
  bool adapts_;
  Barrier barrier_;
  ThreadChoice choice_;
  // Of the graph that is computed.
  uint32_t computing_ = 1;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace oi
