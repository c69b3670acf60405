// Finds the instructions that the build was compiled for and this processor lacks: they would end
// the process with SIGILL, without a message, at some later time.
//
// Compiled for every processor of the architecture, and nothing of the C++ library in it: what is
// inlined elsewhere may be linked in from there.

#pragma once

#if defined(__aarch64__)
#include <sys/auxv.h>

#include <cstring>
#endif

namespace oi {

#if defined(__aarch64__)
// By the names of /proc/cpuinfo, as the kernel's bits are not named by every C library.
inline bool Supports(const char* name) {
  struct Feature {
    const char* name;
    unsigned long type;
    unsigned long bit;
  };
  constexpr Feature features[] = {
      {"atomics", AT_HWCAP, 1ul << 8},  {"asimdrdm", AT_HWCAP, 1ul << 12},
      {"asimdhp", AT_HWCAP, 1ul << 10}, {"asimddp", AT_HWCAP, 1ul << 20},
      {"sve", AT_HWCAP, 1ul << 22},     {"sve2", AT_HWCAP2, 1ul << 1},
      {"i8mm", AT_HWCAP2, 1ul << 13},   {"bf16", AT_HWCAP2, 1ul << 14},
  };
  for (const Feature& feature : features) {
    if (std::strcmp(feature.name, name) == 0) return getauxval(feature.type) & feature.bit;
  }
  return false;
}
#endif

// Calls say(name) for each of them.
template <typename Say>
void ForEachLacking(Say say) {
#if defined(__aarch64__)
#define OI_NEEDS(name) \
  if (!Supports(name)) say(name);
#else
  __builtin_cpu_init();
#define OI_NEEDS(name) \
  if (!__builtin_cpu_supports(name)) say(name);
#endif
#include "oi_needed_instructions.h"
#undef OI_NEEDS
}

}  // namespace oi
