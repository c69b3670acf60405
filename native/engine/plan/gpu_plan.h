// Plans which part of a model goes to which GPU, by their free memory, before the weights are
// loaded: later, an allocation fails, or a driver ends the process.
//
// Rules
//   1. What was asked for is done or refused, with numbers. What was left open gives way, in this
//      order: the size of the context, of microbatches, experts that stay in RAM, layers that stay
//      there. Every choice that costs something is said.
//   2. Weights and cells are sums from the file's header. The size of compute buffers is asked of
//      llama.cpp, by a model without weights and a context without memory.
//   3. Some memory stays free: drivers and what is compiled at run time take theirs, too.

#pragma once

#include <atomic>
#include <cstdint>

#include "load_plan.h"

namespace oi {

// With no layers the model stays in RAM. Throws EngineError: ERR_MODEL_MEMORY, and what loading the
// model throws.
LoadPlan PlanForGpus(const EngineOptions& options, uint32_t default_threads,
                     const std::atomic<bool>& stop);

}  // namespace oi
