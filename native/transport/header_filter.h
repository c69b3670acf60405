// Filters requests before uWebSockets.js, on its own sockets.
//
// uWebSockets.js speaks HTTP/1.1 to clients that do. What else comes (HTTP/1.0, a malformed line,
// a chunked body, Expect or Upgrade, lengths that contradict each other) it refuses with a page of
// HTML, or misreads. So each request's head is read here first: plain ones go on, and with any
// other the connection leaves uWebSockets.js, its bytes with it, for a server that knows all of
// HTTP.
//
// Rules
//   1. Everything is done with the public functions of uSockets, on the thread of the event loop.
//   2. Replies never change places: uWebSockets.js gets one request of a connection at a time. What
//      comes behind one that is not answered waits here, bounded in size; beyond that the
//      connection is closed behind the answer. A connection leaves only between two requests.
//   3. A head that has not come whole waits here, bounded in size and by a clock that begins with
//      its first byte and never again.
//   4. How long a body may take is the owner's to decide, as long as the request is not answered.
//   5. A filter is destroyed only when the sockets of its server are closed.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "request_head.h"
#include "usockets.h"

namespace oi {

// What the filter asks its owner. A connection is named by its descriptor.
struct FilterOwner {
  // Takes the connection over: `fd` is a descriptor of its own, `bytes` is what came of the
  // request, `late` whether that took too long. False: it is not taken, since a reply is still to
  // be written.
  std::function<bool(int connection, int fd, std::string_view bytes, bool late)> take_over;
  // The client sends no more. True: a reply is still to be written, so that the connection stays.
  std::function<bool(int connection)> half_closed;
  // A connection has been closed that stayed, or that was lost: its client may not have had all
  // that was sent.
  std::function<void(int connection, bool lost)> closed;
};

struct FilterLimits {
  // How long a connection without a request is kept.
  unsigned idle_seconds = 0;
  // What a connection is sent that comes when hardly any descriptors are left.
  std::string refusal;
  // Written by the owner, by connection: whether a request is being answered. The filter makes it
  // kWaited when something waits for that answer, and the owner then calls Resume() behind it.
  // Connections beyond its end are refused.
  uint8_t* answering = nullptr;
  size_t most_connections = 0;
  // Written by the filter: whose data uWebSockets.js is being given; -1: nobody's.
  int32_t* current = nullptr;
};

// A value of FilterLimits::answering.
inline constexpr uint8_t kWaited = 2;

class HeaderFilter {
 public:
  // Before the server that listens on `port`. `path`: the binary of uWebSockets.js; `polls`: what
  // the event loop polls, each descriptor with what the handle's data points to. Null where these
  // are not as expected.
  static HeaderFilter* Create(const std::vector<std::pair<int, void*>>& polls, int port,
                              const std::string& path, FilterLimits limits, FilterOwner owner);
  ~HeaderFilter();
  HeaderFilter(const HeaderFilter&) = delete;
  HeaderFilter& operator=(const HeaderFilter&) = delete;

  // Whether any client has not taken all that the system has for it. What uWebSockets.js still
  // keeps for one is sent once the system has room, and so before this is false for long.
  bool Sending() const;

  // For a connection that stayed, see FilterOwner::half_closed.
  //
  // Sends an interim reply, which every client of HTTP/1.1 reads over: the system of a client that
  // has gone answers it by resetting the connection.
  void Probe(int connection);
  // Whether the client may still be there; if not, the connection is closed.
  bool IsThere(int connection);
  // Closes it if everything has left, or nothing can any more.
  void CloseIfSent(int connection);

  // Goes on with what waited for an answer.
  void Resume(int connection);

 private:
  struct Connection {
    us_socket_t* socket = nullptr;
    // What is still to come of the body that uWebSockets.js is being given.
    uint64_t body_bytes = 0;
    // What waits for the answer before it (rule 2), or is a head that is not whole yet (rule 3).
    std::string kept;
    // Of such a head: what was read of it, and when it must have come, on the clock of NowMs().
    std::unique_ptr<HeadReader> head;
    int64_t head_due_ms = 0;
    // Whether too much came behind an answer: nothing more is read.
    bool deaf = false;
    // Whether anything came since the last timeout.
    bool active = false;
    // Whether it stays open although its client sends no more.
    bool half_closed = false;
    // Whether a request came, and whether its client had left before all of a reply had arrived.
    bool asked = false;
    bool unsent = false;
    // Whether its client has ended it, or the server ends it.
    bool ending = false;
  };

  HeaderFilter(const Usockets& us, const SocketHandlers& theirs, us_socket_context_t* context,
               FilterLimits limits, FilterOwner owner);

  static us_socket_t* Open(us_socket_t* s, int is_client, char* ip, int ip_length);
  static us_socket_t* Data(us_socket_t* s, char* data, int length);
  static us_socket_t* Timeout(us_socket_t* s);
  static us_socket_t* Close(us_socket_t* s, int code, void* reason);
  static us_socket_t* End(us_socket_t* s);
  static HeaderFilter& Of(us_socket_t* s);

  Connection& At(int fd);
  int FdOf(us_socket_t* s) const;
  us_socket_t* Receive(us_socket_t* s, char* data, size_t length);
  us_socket_t* PassOn(us_socket_t* s, char* data, size_t length, size_t behind);
  us_socket_t* Keep(us_socket_t* s, std::string bytes);
  us_socket_t* TakeOver(us_socket_t* s, std::string_view bytes, bool late);
  // Whether a request of it is being answered.
  bool IsAnswering(int fd) const { return limits_.answering[fd] != 0; }
  us_socket_t* Expire(us_socket_t* s);
  void Refuse(int fd) const;

  const Usockets us_;
  const SocketHandlers theirs_;
  us_socket_context_t* const context_;
  const FilterLimits limits_;
  const FilterOwner owner_;
  // Connections from this descriptor on are refused: what is left belongs to files.
  const int most_descriptors_;
  // By descriptor.
  std::vector<Connection> connections_;
  // Of all connections together.
  size_t waiting_bytes_ = 0;
};

}  // namespace oi
