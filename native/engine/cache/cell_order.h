// The order of a context's cells in their sequences, for attention by our own kernels.

#pragma once

#include <memory>

#include "../../kernels/kernels.h"

struct llama_context;

namespace oi {

// Valid as long as the context. Null if it has no cells, or not the known kinds of memory.
std::unique_ptr<kernels::CellOrder> CellOrderOf(const llama_context* context);

}  // namespace oi
