// Predicts the memory of a context before anything is allocated.

#pragma once

#include <cstdint>

#include "../types.h"
#include "ggml.h"

namespace oi {

class Model;

// The memory of a context, by its size; bytes.
struct ContextCost {
  double cell_bytes;   // K and V of a token, in all layers
  double state_bytes;  // recurrent state of a sequence, in all layers

  uint64_t Bytes(uint32_t context_tokens, uint32_t sequences) const {
    return static_cast<uint64_t>(cell_bytes * context_tokens + state_bytes * sequences);
  }
};

// Of a model whose layers all attend, from its metadata: an upper bound where an architecture
// shares or compresses its cells. Which layers of others attend, and what the rest keeps, is each
// architecture's own: llama.cpp is asked, by a context of the smallest size.
ContextCost CostOfContext(const Model& model, CacheType type);

ggml_type CacheGgmlType(CacheType type);

}  // namespace oi
