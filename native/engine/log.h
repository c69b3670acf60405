// llama.cpp reports why a load failed only through its process-wide log.
//
// Lines are kept per thread, because llama.cpp logs on the thread that called it: two
// models that load at the same time do not read each other's reasons.

#pragma once

#include <string>

namespace oi {

// Routes llama.cpp's log here. Idempotent, thread-safe. With OI_NATIVE_LOG set in the
// environment every line goes to stderr as well.
void CaptureLog();

// Forgets this thread's lines.
void ClearLog();

// This thread's first error line since ClearLog(), without llama.cpp's function-name
// prefix and line end, or "" if there was none. The first one names the cause; those
// after it say what failed because of it.
std::string FirstLoggedError();

// What llama.cpp said about the memory of the contexts that this thread has made since ClearLog().
struct LoggedMemory {
  double cell_bytes = 0;   // of K and V, for all cells
  double state_bytes = 0;  // of recurrent states, for all sequences
};
LoggedMemory MemoryLogged();

}  // namespace oi
