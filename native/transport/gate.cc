#include "gate.h"

#ifdef __linux__

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "request_head.h"

namespace oi {

namespace {

// How long uWebSockets.js itself keeps a connection behind a reply, at least.
constexpr unsigned kTheirIdleSeconds = 8;
constexpr unsigned kHeadSeconds = 10;
// What uWebSockets.js may write behind the end of what it is given.
constexpr size_t kPaddingBytes = 64;
constexpr std::string_view kInterim = "HTTP/1.1 100 Continue\r\n\r\n";

// uWebSockets.js has one loop a thread, and all its sockets on it.
thread_local std::vector<Gate*> gates;

constexpr rlim_t kReservedDescriptors = 64;

int MostDescriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<int>::max();
  const rlim_t most = std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<int>::max());
  return static_cast<int>(most - std::min(kReservedDescriptors, most / 4));
}

bool AllSent(int fd) {
  int bytes = 0;
  return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes == 0;
}

}  // namespace

Gate* Gate::Create(const std::vector<std::pair<int, void*>>& polls, int port,
                   const std::string& path, GateLimits limits, GateOwner owner) {
  Usockets us;
  if (!us.Find(path.c_str())) return nullptr;
  const auto poll = std::find_if(polls.begin(), polls.end(), [&us, port](const auto& one) {
    return ListensOn(us, static_cast<us_socket_t*>(one.second), one.first, port);
  });
  if (poll == polls.end()) return nullptr;
  auto* const listens = static_cast<us_socket_t*>(poll->second);
  us_socket_context_t* context = us.context_of(0, listens);
  SocketHandlers theirs;
  if (!theirs.Read(us, context, path.c_str())) return nullptr;
  return new Gate(us, theirs, context, std::move(limits), std::move(owner));
}

Gate::Gate(const Usockets& us, const SocketHandlers& theirs, us_socket_context_t* context,
           GateLimits limits, GateOwner owner)
    : us_(us),
      theirs_(theirs),
      context_(context),
      limits_(std::move(limits)),
      owner_(std::move(owner)),
      most_descriptors_(MostDescriptors()) {
  gates.push_back(this);
  us_.on_open(0, context_, Open);
  us_.on_data(0, context_, Data);
  us_.on_timeout(0, context_, Timeout);
  us_.on_close(0, context_, Close);
  us_.on_end(0, context_, End);
}

Gate::~Gate() { gates.erase(std::find(gates.begin(), gates.end(), this)); }

Gate& Gate::Of(us_socket_t* s) {
  const us_socket_context_t* context = gates.front()->us_.context_of(0, s);
  return **std::find_if(gates.begin(), gates.end(),
                        [context](const Gate* gate) { return gate->context_ == context; });
}

int Gate::FdOf(us_socket_t* s) const {
  return static_cast<int>(reinterpret_cast<intptr_t>(us_.native_handle(0, s)));
}

Gate::Connection& Gate::At(int fd) {
  const auto index = static_cast<size_t>(fd);
  if (index >= connections_.size()) connections_.resize(index + 64);
  return connections_[index];
}

us_socket_t* Gate::Open(us_socket_t* s, int is_client, char* ip, int ip_length) {
  Gate& gate = Of(s);
  const int fd = gate.FdOf(s);
  gate.At(fd) = {};
  gate.At(fd).active = true;
  s = gate.theirs_.on_open(s, is_client, ip, ip_length);
  if (fd < gate.most_descriptors_) return s;
  gate.Refuse(fd);
  return gate.us_.close(0, s, 0, nullptr);
}

void Gate::Refuse(int fd) const {
  // What was not read would make the system reset the connection, and the client would not see
  // the reply.
  char read[4096];
  while (recv(fd, read, sizeof read, MSG_DONTWAIT) > 0) {
  }
  // Of a new connection, the buffer has room for it.
  [[maybe_unused]] const auto sent =
      send(fd, limits_.refusal.data(), limits_.refusal.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  shutdown(fd, SHUT_WR);
}

us_socket_t* Gate::Data(us_socket_t* s, char* data, int length) {
  return Of(s).Receive(s, data, static_cast<size_t>(length));
}

us_socket_t* Gate::Receive(us_socket_t* s, char* data, size_t length) {
  Connection& connection = At(FdOf(s));
  connection.socket = s;
  connection.active = true;
  std::string joined;
  if (!connection.head.empty()) {
    joined.swap(connection.head);
    joined.append(data, length);
    length = joined.size();
    joined.resize(length + kPaddingBytes);
    data = joined.data();
  }

  // How much may go on.
  size_t at = 0;
  HeadKind kind = HeadKind::kPlain;
  while (at < length && kind == HeadKind::kPlain) {
    if (connection.body_bytes > 0) {
      const auto body = static_cast<size_t>(std::min<uint64_t>(connection.body_bytes, length - at));
      connection.body_bytes -= body;
      at += body;
      continue;
    }
    const RequestHead head = ReadRequestHead({data + at, length - at});
    kind = head.kind;
    at += head.bytes;
    connection.body_bytes = head.body_bytes;
  }
  if (at == length) return PassOn(s, data, at);
  // A copy: uWebSockets.js writes behind the end of what it is given.
  std::string rest(data + at, length - at);
  if (at > 0) {
    s = PassOn(s, data, at);
    if (s == nullptr || us_.is_closed(0, s) != 0) return s;
  }
  if (kind == HeadKind::kOther) return TakeOver(s, rest);
  At(FdOf(s)).head = std::move(rest);
  us_.set_timeout(0, s, kHeadSeconds);
  return s;
}

us_socket_t* Gate::PassOn(us_socket_t* s, char* data, size_t length) {
  current = FdOf(s);
  At(current).asked = true;
  s = theirs_.on_data(s, data, static_cast<int>(length));
  current = -1;
  return s;
}

us_socket_t* Gate::TakeOver(us_socket_t* s, std::string_view bytes) {
  const int fd = FdOf(s);
  // Rule 2. What the system has not sent yet may have more behind it, in uWebSockets.js.
  const int copy = AllSent(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
  if (copy >= 0 && !owner_.take_over(fd, copy, bytes)) close(copy);
  At(fd).ending = true;
  return us_.close(0, s, 0, nullptr);
}

us_socket_t* Gate::Timeout(us_socket_t* s) { return Of(s).Expire(s); }

us_socket_t* Gate::Expire(us_socket_t* s) {
  const int fd = FdOf(s);
  Connection& connection = At(fd);
  if (!connection.head.empty()) return TakeOver(s, std::exchange(connection.head, {}));
  const bool idle = connection.body_bytes == 0 && AllSent(fd) && !connection.half_closed;
  if (!idle || !connection.active || limits_.idle_seconds <= kTheirIdleSeconds) {
    connection.ending = true;
    s = theirs_.on_timeout(s);
    if (s != nullptr && us_.is_closed(0, s) == 0) At(fd).ending = false;
    return s;
  }
  connection.active = false;
  us_.set_timeout(0, s, limits_.idle_seconds - kTheirIdleSeconds);
  return s;
}

us_socket_t* Gate::Close(us_socket_t* s, int code, void* reason) {
  Gate& gate = Of(s);
  const int fd = gate.FdOf(s);
  const Connection connection = std::exchange(gate.At(fd), {});
  // By nobody else: its client has reset it. (The code does not tell: libuv hides the reason.)
  const bool reset = !connection.ending && gate.current != fd;
  const bool lost = connection.asked && (reset || connection.unsent);
  s = gate.theirs_.on_close(s, code, reason);
  if (connection.half_closed || lost) gate.owner_.closed(fd, lost);
  return s;
}

us_socket_t* Gate::End(us_socket_t* s) {
  Gate& gate = Of(s);
  const int fd = gate.FdOf(s);
  Connection& connection = gate.At(fd);
  // Told again when a reply that waited for room has left and the end is read once more.
  if (connection.half_closed) return s;
  connection.unsent = !AllSent(fd);
  connection.ending = true;
  // A request that is not whole is none any more.
  if (connection.body_bytes > 0 || !connection.head.empty() || !gate.owner_.half_closed(fd)) {
    return gate.theirs_.on_end(s);
  }
  connection.half_closed = true;
  return s;
}

bool Gate::Sending() const {
  for (size_t fd = 0; fd < connections_.size(); ++fd) {
    if (connections_[fd].socket != nullptr && !AllSent(static_cast<int>(fd))) return true;
  }
  return false;
}

void Gate::Probe(int fd) {
  [[maybe_unused]] const auto sent =
      send(fd, kInterim.data(), kInterim.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool Gate::IsThere(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (!At(fd).half_closed) return false;
  const bool known = getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
  if (known && info.tcpi_state != TCP_CLOSE) return true;
  us_.close(0, At(fd).socket, 0, nullptr);
  return false;
}

void Gate::CloseIfSent(int fd) {
  if (At(fd).half_closed && AllSent(fd)) us_.close(0, At(fd).socket, 0, nullptr);
}

}  // namespace oi

#else

namespace oi {

Gate* Gate::Create(const std::vector<std::pair<int, void*>>&, int, const std::string&, GateLimits,
                   GateOwner) {
  return nullptr;
}
Gate::~Gate() = default;
bool Gate::Sending() const { return false; }
void Gate::Probe(int) {}
bool Gate::IsThere(int) { return true; }
void Gate::CloseIfSent(int) {}

}  // namespace oi

#endif
