// The physical cores that this process may use.

#pragma once

#include <cstdint>
#include <string>

namespace oi {

// Their number: its affinity (which cpusets are a part of), one per
// core with several hardware threads, within the quota of its control groups. At least 1. A thread
// beyond that number makes every barrier of a matmul wait for it. `root` stands for "/".
uint32_t AvailableCores(const std::string& root = "");

}  // namespace oi
