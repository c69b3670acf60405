#include "graphs.h"

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "crew.h"
#include "ggml-cpu.h"

namespace oi {
namespace {

struct Crews {
  std::shared_mutex mutex;
  std::vector<Crew*> all;  // guarded by mutex
};

Crews& AllCrews() {
  // Never destroyed: a crew that is static itself may leave after it.
  static Crews& crews = *new Crews;
  return crews;
}

thread_local bool adapts_here = true;

}  // namespace

void AdaptHere(bool adapts) { adapts_here = adapts; }

void AddCrew(Crew& crew) {
  Crews& crews = AllCrews();
  const std::unique_lock lock(crews.mutex);
  crews.all.push_back(&crew);
}

void RemoveCrew(const Crew& crew) {
  Crews& crews = AllCrews();
  const std::unique_lock lock(crews.mutex);
  std::erase(crews.all, &crew);
}

#ifdef OI_OWN_BARRIER

namespace {

Crew* FindCrew(const ggml_threadpool* pool) {
  Crews& crews = AllCrews();
  const std::shared_lock lock(crews.mutex);
  for (Crew* crew : crews.all) {
    if (crew->pool() == pool) return crew;
  }
  return nullptr;
}

// The crew that this thread computes for. A pool's thread belongs to one for life; the thread that
// starts graphs comes to several, and a new crew may lie where an old one was, so it forgets
// between graphs.
struct Place {
  const ggml_threadpool* pool = nullptr;
  Crew* crew = nullptr;
};
thread_local Place place;

// Where a graph brings no pool, as those of projectors, ggml makes threads for it alone.
Crew* CrewOfThread(uint32_t threads) {
  thread_local std::unique_ptr<Crew> crew;
  thread_local uint32_t size = 0;
  if (size != threads) {
    crew.reset();
    crew = std::make_unique<Crew>(threads, adapts_here);
    size = threads;
  }
  return crew.get();
}

}  // namespace

#endif

}  // namespace oi

#ifdef OI_OWN_BARRIER

// ggml's own, by the names that replaceable.h gives them.
extern "C" void oi_stock_barrier(ggml_threadpool* pool);
extern "C" ggml_status oi_stock_graph_compute(ggml_cgraph* graph, ggml_cplan* plan);

extern "C" void ggml_barrier(ggml_threadpool* pool) {
  using oi::place;
  if (place.pool != pool) place = {pool, oi::FindCrew(pool)};
  if (place.crew == nullptr) return oi_stock_barrier(pool);
  place.crew->barrier().Wait();
}

extern "C" ggml_status ggml_graph_compute(ggml_cgraph* graph, ggml_cplan* plan) {
  using namespace oi;
  const int threads = plan->n_threads;
  Crew* crew = plan->threadpool != nullptr ? FindCrew(plan->threadpool)
               : threads > 1               ? CrewOfThread(static_cast<uint32_t>(threads))
                                           : nullptr;
  ggml_cplan chosen = *plan;
  if (crew != nullptr) {
    chosen.threadpool = crew->pool();
    chosen.n_threads = static_cast<int>(crew->Begin(static_cast<uint32_t>(threads)));
  }
  place = {chosen.threadpool, crew};
  const ggml_status status = oi_stock_graph_compute(graph, &chosen);
  place = {};
  if (crew != nullptr) crew->End(graph);
  return status;
}

#endif
