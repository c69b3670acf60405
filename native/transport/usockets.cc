#include "usockets.h"

#ifdef __linux__

#include <dlfcn.h>
#include <malloc.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace oi {

namespace {

template <typename Function>
bool FindOne(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

us_socket_t* MarkOpen(us_socket_t* s, int, char*, int) { return s; }
us_socket_t* MarkData(us_socket_t* s, char*, int) { return s; }
us_socket_t* MarkTimeout(us_socket_t* s) { return s; }
us_socket_t* MarkClose(us_socket_t* s, int, void*) { return s; }
us_socket_t* MarkEnd(us_socket_t* s) { return s; }

template <typename Function>
bool ReadOne(us_socket_context_t* own, us_socket_context_t* theirs, Function mark, const char* path,
             Function& found) {
  const auto* words = reinterpret_cast<const void* const*>(own);
  size_t at = 0;
  const size_t count = malloc_usable_size(own) / sizeof(void*);
  while (at < count && words[at] != reinterpret_cast<void*>(mark)) ++at;
  if (at == count) return false;
  void* const word = reinterpret_cast<void**>(theirs)[at];
  Dl_info info;
  if (word == nullptr || dladdr(word, &info) == 0) return false;
  found = reinterpret_cast<Function>(word);
  return std::string(info.dli_fname) == path;
}

}  // namespace

bool Usockets::Find(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const bool found = FindOne(library, "us_socket_context", context_of) &&
                     FindOne(library, "us_socket_context_loop", loop_of) &&
                     FindOne(library, "us_create_socket_context", create_context) &&
                     FindOne(library, "us_socket_context_free", free_context) &&
                     FindOne(library, "us_socket_context_on_open", on_open) &&
                     FindOne(library, "us_socket_context_on_data", on_data) &&
                     FindOne(library, "us_socket_context_on_timeout", on_timeout) &&
                     FindOne(library, "us_socket_context_on_close", on_close) &&
                     FindOne(library, "us_socket_context_on_end", on_end) &&
                     FindOne(library, "us_socket_get_native_handle", native_handle) &&
                     FindOne(library, "us_socket_timeout", set_timeout) &&
                     FindOne(library, "us_socket_close", close) &&
                     FindOne(library, "us_socket_is_closed", is_closed) &&
                     FindOne(library, "us_socket_local_port", local_port);
  // Node never unloads an addon, so what was found stays.
  dlclose(library);
  return found;
}

bool SocketHandlers::Read(const Usockets& us, us_socket_context_t* context, const char* path) {
  us_socket_context_t* own = us.create_context(0, us.loop_of(0, context), 0, {});
  if (own == nullptr) return false;
  us.on_open(0, own, MarkOpen);
  us.on_data(0, own, MarkData);
  us.on_timeout(0, own, MarkTimeout);
  us.on_close(0, own, MarkClose);
  us.on_end(0, own, MarkEnd);
  const bool read = ReadOne(own, context, &MarkOpen, path, on_open) &&
                    ReadOne(own, context, &MarkData, path, on_data) &&
                    ReadOne(own, context, &MarkTimeout, path, on_timeout) &&
                    ReadOne(own, context, &MarkClose, path, on_close) &&
                    ReadOne(own, context, &MarkEnd, path, on_end);
  us.free_context(0, own);
  return read;
}

bool ListensOn(const Usockets& us, us_socket_t* s, int fd, int port) {
  int listens = 0;
  socklen_t size = sizeof listens;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) return false;
  return reinterpret_cast<intptr_t>(us.native_handle(0, s)) == fd && us.local_port(0, s) == port;
}

}  // namespace oi

#else

namespace oi {

// Elsewhere the binaries do not export the functions, or say otherwise where they are.
bool Usockets::Find(const char*) { return false; }
bool SocketHandlers::Read(const Usockets&, us_socket_context_t*, const char*) { return false; }
bool ListensOn(const Usockets&, us_socket_t*, int, int) { return false; }

}  // namespace oi

#endif
