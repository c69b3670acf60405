#include "thread.h"

#include <utility>

#include "../engine/error.h"

#ifdef _WIN32
#include <thread>
#else
#include <pthread.h>
#endif

namespace oi {

#ifdef _WIN32

struct Thread::Impl {
  std::thread thread;
};

Thread::Thread(const char*, size_t, std::function<void()> body)
    : impl_(new Impl{std::thread(std::move(body))}) {}

Thread::~Thread() { impl_->thread.join(); }

#else

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
  if (status != 0) throw EngineError("ERR_ENGINE_INTERNAL", "no thread could be started");
}

Thread::~Thread() { pthread_join(impl_->handle, nullptr); }

#endif

}  // namespace oi
