#include "cpu.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

namespace oi {
namespace {

#ifdef __linux__
uint32_t AffinityCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return std::thread::hardware_concurrency();
  std::set<std::string> cores;  // as the kernel lists a core's hardware threads
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
    std::string siblings;
    cores.insert(std::getline(file, siblings) ? siblings : std::to_string(cpu));
  }
  return static_cast<uint32_t>(cores.size());
}

// Whole cores of the control group's quota, versions 2 and 1; 0 without one.
uint32_t QuotaCores() {
  double quota = 0;
  double period = 0;
  std::ifstream v2("/sys/fs/cgroup/cpu.max");  // "max 100000" has no number first
  if (!(v2 >> quota >> period)) {
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota;
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0) return 0;
  return std::max(1u, static_cast<uint32_t>(quota / period));
}
#endif

}  // namespace

uint32_t AvailableCores() {
#if defined(__linux__)
  uint32_t cores = AffinityCores();
  if (const uint32_t quota = QuotaCores()) cores = std::min(cores, quota);
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
