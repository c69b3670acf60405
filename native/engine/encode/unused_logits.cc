#include "unused_logits.h"

#include "llama.h"

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#endif

namespace oi {

#ifdef __linux__

void ReleaseUnusedLogits(llama_context* context, size_t vocabulary_size, size_t tokens) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(llama_get_logits(context));
  if (begin == 0) return;
  // Whole pages alone; other numbers share the first and the last.
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t last = (begin + vocabulary_size * tokens * sizeof(float)) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

#else

void ReleaseUnusedLogits(llama_context*, size_t, size_t) {}

#endif

}  // namespace oi
