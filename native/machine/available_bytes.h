// The memory that this process can still take.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace oi {

// Bytes that can still be allocated without swapping: the kernel's estimate (MemAvailable), within
// the limits of the control groups. Nothing where the system does not tell. `root` stands for "/".
std::optional<uint64_t> AvailableBytes(const std::string& root = "");

}  // namespace oi
