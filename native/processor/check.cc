// Whether this processor has the instructions that the build was compiled for. Without them the
// process would end with SIGILL, without a word, at some later time.
//
// 1. Runs before any other code of the file that it is linked into: of the constructors, those with
//    the lowest number come first, and others may use the instructions already.
// 2. Compiled for every processor of the architecture, and nothing of the C++ library in it: what
//    is inlined elsewhere may be linked in from there.

#include <unistd.h>

#include <cstring>

namespace {

void Say(const char* text) {
  // Where even that fails there is nobody to tell.
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

__attribute__((constructor(101))) void CheckProcessor() {
  __builtin_cpu_init();
  bool lacks = false;
  const auto need = [&lacks](bool here, const char* name) {
    if (here) return;
    Say(lacks ? ", " : "oi was compiled for another processor. This one lacks ");
    Say(name);
    lacks = true;
  };
#define OI_NEEDS(name) need(__builtin_cpu_supports(name), name);
#include "oi_needed_instructions.h"
#undef OI_NEEDS
  if (!lacks) return;
  Say(": compile it on this machine, with `npx oi build --clean` where oi-systemone is installed, "
      "with `npm run build -- --clean` in a checkout of it\n");
  _exit(1);
}

}  // namespace
