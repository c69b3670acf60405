// What a context will take, before anything is allocated.

#pragma once

#include <cstdint>

#include "types.h"

namespace oi {

class Model;

// Bytes of K/V cells and recurrent states for a context of this size, from the model's
// metadata. An upper bound where an architecture shares or compresses its cells.
uint64_t ContextBytes(const Model& model, uint32_t context_tokens, uint32_t sequences,
                      CacheType type);

}  // namespace oi
