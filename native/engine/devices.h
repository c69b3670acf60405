// Which devices there are for a model besides the CPU's memory, by the names that ggml gives them.

#pragma once

#include <string>
#include <vector>

#include "ggml-backend.h"

namespace oi {

using Devices = std::vector<ggml_backend_dev_t>;

// The GPUs that the name means: all for "", none for the CPU's. In any case of letters. Throws
// EngineError ERR_INVALID_ARGUMENT, with the names that there are, for any other.
Devices FindGpus(const std::string& name);

// Names and descriptions, for people; "" for none.
std::string Describe(const Devices& devices);

}  // namespace oi
