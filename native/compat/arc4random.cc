// For portable builds: the C++ library that is linked in asks the system's for random numbers by a
// function that glibc has from 2.36 on. It has asked the kernel itself before.

#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() {
  std::uint32_t value = 0;
  // So few bytes come whole or, where there is no such call, not at all.
  if (getrandom(&value, sizeof value, 0) != sizeof value) std::abort();
  return value;
}
