#include "available_bytes.h"

#ifdef __linux__
#include <algorithm>
#include <fstream>
#include <limits>

#include "control_groups.h"
#endif

namespace oi {

std::optional<uint64_t> AvailableBytes([[maybe_unused]] const std::string& root) {
#ifdef __linux__
  std::optional<uint64_t> available;
  std::ifstream meminfo(root + "/proc/meminfo");
  std::string key;
  uint64_t kib = 0;
  while (meminfo >> key >> kib) {
    if (key == "MemAvailable:") available = kib * 1024;
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  const std::optional<uint64_t> left = GroupBytesLeft(root);
  if (!left) return available;
  return available ? std::min(*available, *left) : left;
#else
  return std::nullopt;
#endif
}

}  // namespace oi
