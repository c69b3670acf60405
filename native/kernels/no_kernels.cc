// The switch of the kernels where a build has none.

#include "kernels.h"
#include "parts_forward.h"

namespace oi::kernels {

LoadScope::LoadScope(bool, bool, bool)
    : before_(false), locked_before_(false), exact_before_(false) {}
LoadScope::~LoadScope() = default;
PoolScope::PoolScope(const ggml_threadpool* pool, const CellOrder*) : pool_(pool) {}
PoolScope::~PoolScope() = default;
bool PoolScope::takes_all_attention() const { return false; }
bool PoolScope::invariant() const { return false; }
std::string Description() { return ""; }
bool HasMatmul(int, int64_t, int64_t, int64_t) { return false; }

bool HasPartsForward(const PartsWeights&) { return false; }

// Never made.
struct PartsForward::Impl {};
PartsForward::PartsForward(const PartsWeights&, CacheFormat) {}
PartsForward::~PartsForward() = default;
void PartsForward::Prepare(const PartsStep&, int) {}
void PartsForward::Compute(int, int, ggml_threadpool*, bool (*)(void*), void*) {}
bool PartsForward::aborted() const { return false; }
const float* PartsForward::states() const { return nullptr; }
double PartsForward::cost() const { return 0; }

}  // namespace oi::kernels
