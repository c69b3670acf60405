// The memory of this process.

#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace oi {

inline size_t ResidentKib() {
  std::ifstream status("/proc/self/status");
  std::string key;
  while (status >> key) {
    size_t kib = 0;
    if (key == "VmRSS:" && status >> kib) return kib;
  }
  return 0;
}

}  // namespace oi
