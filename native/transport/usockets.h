// The functions of uSockets that the binary of uWebSockets.js exports, found in it by name.
//
// The declarations are those of the library's public C header, libusockets.h, 0.8.

#pragma once

#include <cstddef>

namespace oi {

struct us_loop_t;
struct us_socket_context_t;
struct us_socket_t;

// All of it is of interest to TLS alone.
struct us_socket_context_options_t {
  const char* texts[6] = {};
  int prefers_low_memory = 0;
};

using OnOpen = us_socket_t* (*)(us_socket_t*, int is_client, char* ip, int ip_length);
using OnData = us_socket_t* (*)(us_socket_t*, char* data, int length);
using OnTimeout = us_socket_t* (*)(us_socket_t*);
using OnClose = us_socket_t* (*)(us_socket_t*, int code, void* reason);
using OnEnd = us_socket_t* (*)(us_socket_t*);

// Each function's first parameter says whether the socket speaks TLS: always 0 here.
struct Usockets {
  us_socket_context_t* (*context_of)(int, us_socket_t*);
  us_loop_t* (*loop_of)(int, us_socket_context_t*);
  us_socket_context_t* (*create_context)(int, us_loop_t*, int ext_size,
                                         us_socket_context_options_t);
  void (*free_context)(int, us_socket_context_t*);
  void (*on_open)(int, us_socket_context_t*, OnOpen);
  void (*on_data)(int, us_socket_context_t*, OnData);
  void (*on_timeout)(int, us_socket_context_t*, OnTimeout);
  void (*on_close)(int, us_socket_context_t*, OnClose);
  void (*on_end)(int, us_socket_context_t*, OnEnd);
  void* (*native_handle)(int, us_socket_t*);
  void (*set_timeout)(int, us_socket_t*, unsigned seconds);
  us_socket_t* (*close)(int, us_socket_t*, int code, void* reason);
  int (*is_closed)(int, us_socket_t*);
  int (*local_port)(int, us_socket_t*);

  // The functions in the binary at `path`, which is loaded already. False if one is missing.
  bool Find(const char* path);
};

// The handlers that uWebSockets.js has set for its sockets.
struct SocketHandlers {
  OnOpen on_open = nullptr;
  OnData on_data = nullptr;
  OnTimeout on_timeout = nullptr;
  OnClose on_close = nullptr;
  OnEnd on_end = nullptr;

  // Reads them. There is no function for that: where they are kept is found by setting those of
  // a context of our own and looking where they appear. False if that has no clear answer.
  bool Read(const Usockets& us, us_socket_context_t* context, const char* path);
};

// Whether this is the socket of `fd`, and listens on `port`.
bool ListensOn(const Usockets& us, us_socket_t* s, int fd, int port);

}  // namespace oi
