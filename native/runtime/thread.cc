#include "thread.h"

#include <pthread.h>

#include <future>
#include <system_error>
#include <utility>
#include <vector>

#include "../engine/error.h"

namespace oi {
namespace {

// The stack of ggml's pool threads. A smaller one may not even hold what a sanitizer keeps for a
// thread.
constexpr size_t kCheckStackBytes = 8u << 20;

}  // namespace

struct Thread::Impl {
  pthread_t handle{};
  const char* name;
  std::function<void()> body;
};

Thread::Thread(const char* name, size_t stack_bytes, std::function<void()> body)
    : impl_(new Impl{{}, name, std::move(body)}) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  const int status = pthread_create(
      &impl_->handle, &attributes,
      [](void* data) -> void* {
        auto* impl = static_cast<Impl*>(data);
#ifdef __APPLE__
        pthread_setname_np(impl->name);
#else
        pthread_setname_np(pthread_self(), impl->name);
#endif
        impl->body();
        return nullptr;
      },
      impl_.get());
  pthread_attr_destroy(&attributes);
  if (status == 0) return;
  throw EngineError("ERR_ENGINE_INTERNAL",
                    std::string("no more threads can be started (limits of the user or of the "
                                "container): ") +
                        std::generic_category().message(status));
}

Thread::~Thread() { pthread_join(impl_->handle, nullptr); }

void CheckThreads(size_t count) {
  std::promise<void> all_there;
  const std::shared_future<void> end = all_there.get_future().share();
  std::vector<std::unique_ptr<Thread>> threads;
  try {
    for (size_t i = 0; i < count; ++i) {
      threads.push_back(
          std::make_unique<Thread>("oi-check", kCheckStackBytes, [end] { end.wait(); }));
    }
  } catch (...) {
    all_there.set_value();  // else those that run would be joined for ever
    throw;
  }
  all_there.set_value();
}

}  // namespace oi
