// A joinable thread with a stack of a chosen size, which std::thread cannot give.
//
// Default stacks differ (8 MiB with glibc, 128 KiB with musl), and std::regex, which some
// pre-tokenizers use, recurses once per character.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace oi {

class Thread {
 public:
  // `name` is at most 15 characters, for debuggers. Throws EngineError ERR_ENGINE_INTERNAL if
  // the system gives no thread.
  Thread(const char* name, size_t stack_bytes, std::function<void()> body);
  ~Thread();  // joins

  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Throws EngineError ERR_ENGINE_INTERNAL unless the system gives so many threads more, for now.
void CheckThreads(size_t count);

}  // namespace oi
