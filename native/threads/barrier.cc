#include "barrier.h"

#include <chrono>

namespace oi {
namespace {

// Spins between two looks at the clock, which costs as much as a few of them.
constexpr int kPausesPerLook = 32;

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield" ::: "memory");
#endif
}

}  // namespace

void Barrier::Start(uint32_t threads, int64_t spin_ns) {
  threads_ = threads;
  spin_ns_ = spin_ns;
  slept_ns_.store(0, std::memory_order_relaxed);
}

void Barrier::Wait() {
  if (threads_ == 1) return;
  // Cannot change before this thread has arrived.
  const uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_seq_cst);
    // A thread that goes to sleep counts itself and then reads the generation, so one sees the
    // other.
    if (asleep_.load(std::memory_order_seq_cst) > 0) generation_.notify_all();
    return;
  }
  if (Spin(generation)) return;
  const int64_t start = NowNs();
  asleep_.fetch_add(1, std::memory_order_seq_cst);
  generation_.wait(generation, std::memory_order_seq_cst);
  asleep_.fetch_sub(1, std::memory_order_relaxed);
  slept_ns_.fetch_add(NowNs() - start, std::memory_order_relaxed);
}

bool Barrier::Spin(uint32_t generation) const {
  int64_t end = 0;
  for (;;) {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (generation_.load(std::memory_order_acquire) != generation) return true;
      Pause();
    }
    const int64_t now = NowNs();
    if (end == 0) end = now + spin_ns_;
    if (now >= end) return false;
  }
}

}  // namespace oi
