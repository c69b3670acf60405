// The switch of the kernels (../kernels.h), and where they enter ggml's CPU backend: its list of
// buffer types, ours first, whose operations come to us; and the hook by which a backend may change
// a graph before its memory is planned.
//
// This folder alone uses ggml's private headers, and is built where they are those of the pinned
// tree (scripts/build/private-headers.ts).

#include "backend.h"

#include "../kernels.h"
#include "../product.h"
#include "buffer_type.h"
#include "ggml-backend-impl.h"
#include "ggml-cpu.h"
#include "graph_passes.h"
#include "pools.h"
#include "traits.h"

namespace oi::kernels {
namespace {

thread_local bool used_here = false;
thread_local bool locked_here = false;
thread_local bool exact_here = false;

ggml_backend_t (*make_backend)(ggml_backend_dev_t, const char*) = nullptr;

void Optimize(ggml_backend_t, ggml_cgraph* graph, ggml_backend_graph_optimize_params* params) {
  JoinNorms(graph, params);
  JoinGates(graph, params);
  SkipCasts(graph);
}

void OptimizeExact(ggml_backend_t, ggml_cgraph* graph, ggml_backend_graph_optimize_params* params) {
  JoinNorms(graph, params);
  SkipCasts(graph);
  for (int i = 0; i < graph->n_nodes; ++i) {
    if (IsTiledProduct(graph->nodes[i])) MakeExact(graph->nodes[i]);
  }
}

// A context asks its device for a backend of its own.
ggml_backend_t MakeBackend(ggml_backend_dev_t device, const char* params) {
  ggml_backend_t backend = make_backend(device, params);
  if (backend != nullptr && used_here) {
    backend->iface.graph_optimize = exact_here ? OptimizeExact : Optimize;
  }
  return backend;
}

// Once per process, before llama.cpp copies the list of types for the first time.
void Register() {
  static const bool once = [] {
    if (InstructionSet()[0] == '\0') return false;
    auto& types = ggml_backend_cpu_get_extra_buffer_types();
    types.insert(types.begin(), BufferType());
    ggml_backend_dev_t cpu = ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0);
    make_backend = cpu->iface.init_backend;
    cpu->iface.init_backend = MakeBackend;
    return true;
  }();
  (void)once;
}

}  // namespace

bool IsUsedHere() { return used_here; }
bool IsLockedHere() { return locked_here; }

LoadScope::LoadScope(bool use, bool lock, bool exact)
    : before_(used_here), locked_before_(locked_here), exact_before_(exact_here) {
  Register();
  used_here = use;
  locked_here = lock;
  exact_here = exact;
}

LoadScope::~LoadScope() {
  used_here = before_;
  locked_here = locked_before_;
  exact_here = exact_before_;
}

PoolScope::PoolScope(const ggml_threadpool* pool, const CellOrder* order) : pool_(pool) {
  Register();
  if (pool_ != nullptr) AddPool(pool_, order);
}

PoolScope::~PoolScope() {
  if (pool_ != nullptr) RemovePool(pool_);
}

bool PoolScope::takes_all_attention() const {
  const Pool* known = FindPool(pool_);
  return known != nullptr && known->attention_ours > 0 && known->attention_others == 0;
}

bool PoolScope::invariant() const {
  return takes_all_attention() && FindPool(pool_)->dependent == 0;
}

std::string Description() { return InstructionSet(); }

}  // namespace oi::kernels
