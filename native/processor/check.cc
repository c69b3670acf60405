// Ends a program whose processor lacks the instructions that it was compiled for, with a sentence.
// Whoever loads the addon asks processor.node first and gets an exception instead; this is for
// tools, and for an addon that is loaded in another way.
//
// Runs before any other code of the file that it is linked into: of the constructors, those with
// the lowest number come first, and others may use the instructions already.

#include <unistd.h>

#include <cstring>

#include "lacking.h"

namespace {

void Say(const char* text) {
  // Where even that fails there is nobody to tell.
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

__attribute__((constructor(101))) void CheckProcessor() {
  bool lacks = false;
  oi::ForEachLacking([&lacks](const char* name) {
    Say(lacks ? ", " : "oi was compiled for another processor. This one lacks ");
    Say(name);
    lacks = true;
  });
  if (!lacks) return;
  Say(": compile it on this machine, with `npx oi build --clean` where oi-systemone is installed, "
      "with `npm run build -- --clean` in a checkout of it\n");
  _exit(1);
}

}  // namespace
