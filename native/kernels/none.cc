// The switch of the kernels where a build has none.

#include "kernels.h"

namespace oi::kernels {

LoadScope::LoadScope(bool) : before_(false) {}
LoadScope::~LoadScope() = default;
AttentionScope::AttentionScope(const ggml_threadpool* pool) : pool_(pool) {}
AttentionScope::~AttentionScope() = default;
bool AttentionScope::takes_all() const { return false; }
std::string Description() { return ""; }

}  // namespace oi::kernels
