#include "cores.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "control_groups.h"

#ifdef __linux__
#include <sched.h>
#endif
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

namespace oi {
namespace {

#ifdef __linux__
uint32_t AffinityCores(const std::string& root) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return std::thread::hardware_concurrency();
  std::set<std::string> cores;  // as the kernel lists a core's hardware threads
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    std::ifstream file(root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
    std::string siblings;
    cores.insert(std::getline(file, siblings) ? siblings : std::to_string(cpu));
  }
  return static_cast<uint32_t>(cores.size());
}
#endif

}  // namespace

uint32_t AvailableCores([[maybe_unused]] const std::string& root) {
#if defined(__linux__)
  uint32_t cores = AffinityCores(root);
  // Whole ones: a thread on a part of a core is throttled in the middle of its work.
  if (const auto quota = QuotaCores(root)) {
    cores = static_cast<uint32_t>(std::min<double>(cores, *quota));
  }
#elif defined(__APPLE__)
  int32_t performance = 0;
  size_t size = sizeof(performance);
  if (sysctlbyname("hw.perflevel0.physicalcpu", &performance, &size, nullptr, 0) != 0)
    performance = 0;
  uint32_t cores =
      performance > 0 ? static_cast<uint32_t>(performance) : std::thread::hardware_concurrency();
#else
  uint32_t cores = std::thread::hardware_concurrency();
#endif
  return std::max(1u, cores);
}

}  // namespace oi
