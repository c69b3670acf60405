// llama.cpp reports why a load failed only through its process-wide log.
//
// Lines are kept per thread, because llama.cpp logs on the thread that called it: two
// models that load at the same time do not read each other's reasons.

#pragma once

#include <cstdint>
#include <map>
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

// What llama.cpp said about memory on this thread since ClearLog(), bytes; to a hundredth of a
// mebibyte.
struct LoggedMemory {
  // Of one kind of buffer, as "CUDA0", "CUDA_Host" or "CPU_Mapped".
  struct Buffers {
    double weights = 0;
    double cells = 0;    // of K and V, and recurrent states
    double compute = 0;  // what is computed, and what goes in
    double outputs = 0;  // what comes out
  };
  double cell_bytes = 0;   // of K and V, for all cells
  double state_bytes = 0;  // of recurrent states, for all sequences
  std::map<std::string, Buffers> buffers;
  std::map<std::string, uint32_t> layers;  // of the model, by device; the output head is one
  bool lock_failed = false;                // some of what was to stay in RAM may leave it
};
const LoggedMemory& MemoryLogged();

}  // namespace oi
