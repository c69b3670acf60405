// Finds the GPUs for a model, by the names that ggml gives them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ggml-backend.h"

namespace oi {

using Devices = std::vector<ggml_backend_dev_t>;

// The GPUs that the name means: all for "" (one of two names of the same one, and integrated ones
// only where there is no other), none for the CPU's, several for "CUDA0+CUDA1", those of another
// machine for "rpc://host:port" (rpc.h). In any case of letters. Throws EngineError
// ERR_INVALID_ARGUMENT, with the names that there are, for any other; as RpcDevices().
Devices FindGpus(const std::string& name);

// Names and descriptions, for people; "" for none.
std::string Describe(const Devices& devices);

// What a device says is free in its memory, bytes; no more than OI_TEST_DEVICE_BYTES, with which
// tests make it small. Nothing if it does not say: then it uses the computer's memory.
std::optional<uint64_t> FreeBytes(ggml_backend_dev_t device);

}  // namespace oi
