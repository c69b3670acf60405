#include "crew.h"

#include <algorithm>
#include <stdexcept>

#include "ggml-cpu.h"
#include "graph_cost.h"
#include "graphs.h"

namespace oi {
namespace {

// Waking a thread takes up to some 50 µs, and operations whose parts are not equally large end
// that far apart: where nobody else wants the core, waiting awake is faster. Where somebody does,
// it takes the core from the thread that is waited for.
constexpr int64_t kCalmSpinNs = 200'000;
constexpr int64_t kContendedSpinNs = 20'000;

// An engine computes on one thread, one graph at a time.
CoreShares::Claim& ClaimOfThread() {
  thread_local CoreShares::Claim claim(CoreShares::Process());
  return claim;
}

}  // namespace

Crew::Crew(uint32_t threads, bool adapts) : threads_(threads), adapts_(adapts), choice_(threads) {
  ggml_threadpool_params params = ggml_threadpool_params_default(static_cast<int>(threads));
  // Its threads sleep between graphs. Spinning, they kept the event loop off a core behind every
  // answer: on two cores the server then reached 0.73 of the engine's rate, without it 1.00.
  params.poll = 0;
  pool_ = ggml_threadpool_new(&params);
  if (pool_ == nullptr) throw std::runtime_error("no thread pool could be made");
  AddCrew(*this);
}

Crew::~Crew() {
  RemoveCrew(*this);  // first: the next pool may lie where this one was
  ggml_threadpool_free(pool_);
}

uint32_t Crew::Begin(uint32_t most) {
  const uint32_t threads = std::min(most, threads_);
  computing_ = threads;
  if (adapts_) {
    const uint32_t wanted = std::min(threads, choice_.threads());
    computing_ = ClaimOfThread().Take(wanted);
  }
  barrier_.Start(computing_, choice_.contended() ? kContendedSpinNs : kCalmSpinNs);
  start_ = std::chrono::steady_clock::now();
  return computing_;
}

void Crew::End(ggml_cgraph* graph) {
  const auto end = std::chrono::steady_clock::now();
  if (adapts_) ClaimOfThread().Return(end);
  const double ms = std::chrono::duration<double, std::milli>(end - start_).count();
  const double slept_ms =
      static_cast<double>(barrier_.slept_ns()) * 1e-6 / std::max(1u, computing_ - 1);
  choice_.Done({computing_, choice_.measures() ? GraphCost(graph) : 0, ms, slept_ms});
}

}  // namespace oi
