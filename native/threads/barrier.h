// The barrier at which the threads of a graph wait for one another, between operations.
//
// ggml's own spins until the last one has come. On cores that others use as well the last one may
// have lost its core to whoever spins: each wait then lasts a slice of the scheduler, and two
// threads were up to a hundred times slower than one. This one spins for a short time and then
// sleeps, so that the core goes to whoever has work.

#pragma once

#include <atomic>
#include <cstdint>

namespace oi {

class Barrier {
 public:
  // Before threads meet, and while none waits. `spin_ns`: how long a wait may keep its core.
  void Start(uint32_t threads, int64_t spin_ns);

  // Returns when all have called it. What each wrote before is seen by all behind it.
  void Wait();

  // Nanoseconds of sleep since Start(), of all threads together.
  int64_t slept_ns() const { return slept_ns_.load(std::memory_order_relaxed); }

 private:
  bool Spin(uint32_t generation) const;

  // Written before the threads begin, and only read by them.
  uint32_t threads_ = 1;
  int64_t spin_ns_ = 0;
  alignas(64) std::atomic<uint32_t> arrived_ = 0;
  alignas(64) std::atomic<uint32_t> generation_ = 0;
  std::atomic<uint32_t> asleep_ = 0;
  std::atomic<int64_t> slept_ns_ = 0;
};

}  // namespace oi
