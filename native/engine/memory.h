// What a context will take, and what the machine has left, before anything is allocated.

#pragma once

#include <cstdint>
#include <optional>

#include "types.h"

namespace oi {

class Model;

// Bytes of K/V cells and recurrent states for a context of this size, from the model's
// metadata. An upper bound where an architecture shares or compresses its cells.
uint64_t ContextBytes(const Model& model, uint32_t context_tokens, uint32_t sequences,
                      CacheType type);

// Bytes that can still be allocated without swapping: the kernel's own estimate, within the
// limit of the control group. Nothing where the system does not tell.
std::optional<uint64_t> AvailableBytes();

}  // namespace oi
