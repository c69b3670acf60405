// The switch of the kernels where a build has none.

#include "kernels.h"

namespace oi::kernels {

LoadScope::LoadScope(bool, bool, bool)
    : before_(false), locked_before_(false), exact_before_(false) {}
LoadScope::~LoadScope() = default;
PoolScope::PoolScope(const ggml_threadpool* pool) : pool_(pool) {}
PoolScope::~PoolScope() = default;
bool PoolScope::takes_all_attention() const { return false; }
std::string Description() { return ""; }

}  // namespace oi::kernels
