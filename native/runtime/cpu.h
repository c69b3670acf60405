// How many cores are really ours.

#pragma once

#include <cstdint>

namespace oi {

// Physical cores that this process may use: its affinity, one per core with several hardware
// threads, within the quota of its control group. At least 1. A thread beyond that number
// makes every barrier of a matrix product wait for it.
uint32_t AvailableCores();

}  // namespace oi
