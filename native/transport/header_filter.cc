#include "header_filter.h"

#ifdef __linux__

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "descriptors.h"

namespace oi {

namespace {

// How long uWebSockets.js itself keeps a connection behind a reply, at least.
constexpr unsigned kTheirIdleSeconds = 8;
constexpr unsigned kHeadSeconds = 10;
// What uWebSockets.js may write behind the end of what it is given.
constexpr size_t kPaddingBytes = 64;
// What may wait behind an answer, of a connection and of all.
constexpr size_t kMostWaitingBytes = size_t{1} << 20;
constexpr size_t kMostWaitingInAll = size_t{64} << 20;

// uWebSockets.js has one loop a thread, and all its sockets on it.
thread_local std::vector<HeaderFilter*> filters;

int64_t NowMs() {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  return duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

HeaderFilter* HeaderFilter::Create(const std::vector<std::pair<int, void*>>& polls, int port,
                                   const std::string& path, FilterLimits limits,
                                   FilterOwner owner) {
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
  return new HeaderFilter(us, theirs, context, std::move(limits), std::move(owner));
}

HeaderFilter::HeaderFilter(const Usockets& us, const SocketHandlers& theirs,
                           us_socket_context_t* context, FilterLimits limits, FilterOwner owner)
    : us_(us),
      theirs_(theirs),
      context_(context),
      limits_(std::move(limits)),
      owner_(std::move(owner)),
      most_descriptors_(std::min(
          MostDescriptors(),
          static_cast<int>(std::min<size_t>(
              limits_.most_connections, static_cast<size_t>(std::numeric_limits<int>::max()))))) {
  filters.push_back(this);
  us_.on_open(0, context_, Open);
  us_.on_data(0, context_, Data);
  us_.on_timeout(0, context_, Timeout);
  us_.on_close(0, context_, Close);
  us_.on_end(0, context_, End);
}

HeaderFilter::~HeaderFilter() { filters.erase(std::find(filters.begin(), filters.end(), this)); }

HeaderFilter& HeaderFilter::Of(us_socket_t* s) {
  const us_socket_context_t* context = filters.front()->us_.context_of(0, s);
  return **std::find_if(filters.begin(), filters.end(), [context](const HeaderFilter* filter) {
    return filter->context_ == context;
  });
}

int HeaderFilter::FdOf(us_socket_t* s) const {
  return static_cast<int>(reinterpret_cast<intptr_t>(us_.native_handle(0, s)));
}

HeaderFilter::Connection& HeaderFilter::At(int fd) {
  const auto index = static_cast<size_t>(fd);
  if (index >= connections_.size()) connections_.resize(index + 64);
  return connections_[index];
}

us_socket_t* HeaderFilter::Open(us_socket_t* s, int is_client, char* ip, int ip_length) {
  HeaderFilter& filter = Of(s);
  const int fd = filter.FdOf(s);
  filter.At(fd) = {};
  filter.At(fd).active = true;
  s = filter.theirs_.on_open(s, is_client, ip, ip_length);
  if (fd < filter.most_descriptors_) {
    filter.limits_.answering[fd] = 0;
    return s;
  }
  filter.Refuse(fd);
  return filter.us_.close(0, s, 0, nullptr);
}

void HeaderFilter::Refuse(int fd) const {
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

us_socket_t* HeaderFilter::Data(us_socket_t* s, char* data, int length) {
  return Of(s).Receive(s, data, static_cast<size_t>(length));
}

us_socket_t* HeaderFilter::Receive(us_socket_t* s, char* data, size_t length) {
  const int fd = FdOf(s);
  std::string joined;
  {
    Connection& connection = At(fd);
    connection.socket = s;
    connection.active = true;
    if (connection.deaf) return s;
    if (!connection.kept.empty()) {
      joined = std::exchange(connection.kept, {});
      waiting_bytes_ -= joined.size();
      joined.append(data, length);
      length = joined.size();
      joined.reserve(length + kPaddingBytes);
      data = joined.data();
    }
  }

  size_t at = 0;
  while (at < length) {
    Connection& connection = At(fd);
    size_t bytes = 0;
    if (connection.body_bytes == 0) {
      if (IsAnswering(fd)) break;
      HeadReader own;
      HeadReader& head = connection.head == nullptr ? own : *connection.head;
      const HeadKind kind = head.Read({data + at, length - at});
      if (kind == HeadKind::kOther) return TakeOver(s, {data + at, length - at}, false);
      if (kind == HeadKind::kIncomplete) {
        if (connection.head == nullptr) connection.head = std::make_unique<HeadReader>(own);
        break;
      }
      bytes = head.bytes();
      connection.body_bytes = head.body_bytes();
      connection.head.reset();
      connection.head_due_ms = 0;
    }
    const auto body =
        static_cast<size_t>(std::min<uint64_t>(connection.body_bytes, length - at - bytes));
    connection.body_bytes -= body;
    bytes += body;
    s = PassOn(s, data + at, bytes, length - at - bytes);
    if (s == nullptr || us_.is_closed(0, s) != 0) return s;
    at += bytes;
  }
  if (at == length) return s;
  if (joined.empty()) joined.assign(data, length);
  joined.erase(0, at);
  return Keep(s, std::move(joined));
}

us_socket_t* HeaderFilter::PassOn(us_socket_t* s, char* data, size_t length, size_t behind) {
  // uWebSockets.js writes behind the end of what it is given.
  char saved[kPaddingBytes];
  const size_t count = std::min(behind, kPaddingBytes);
  std::copy_n(data + length, count, saved);
  *limits_.current = FdOf(s);
  At(*limits_.current).asked = true;
  s = theirs_.on_data(s, data, static_cast<int>(length));
  *limits_.current = -1;
  std::copy_n(saved, count, data + length);
  return s;
}

us_socket_t* HeaderFilter::Keep(us_socket_t* s, std::string bytes) {
  const int fd = FdOf(s);
  Connection& connection = At(fd);
  const int64_t now_ms = NowMs();
  if (IsAnswering(fd)) {
    const bool fits =
        bytes.size() <= kMostWaitingBytes && waiting_bytes_ + bytes.size() <= kMostWaitingInAll;
    if (!fits) {
      // Closed behind the answer, as if the client had said that it sends no more.
      connection.deaf = connection.ending = true;
      connection.half_closed = connection.half_closed || owner_.half_closed(fd);
      return s;
    }
    limits_.answering[fd] = kWaited;
  } else if (connection.head_due_ms == 0) {
    connection.head_due_ms = now_ms + 1000 * kHeadSeconds;
    us_.set_timeout(0, s, kHeadSeconds);
  } else if (now_ms >= connection.head_due_ms) {
    return TakeOver(s, bytes, true);
  }
  waiting_bytes_ += bytes.size();
  connection.kept = std::move(bytes);
  return s;
}

void HeaderFilter::Resume(int fd) {
  Connection& connection = At(fd);
  if (connection.kept.empty() || connection.socket == nullptr || IsAnswering(fd)) return;
  Receive(connection.socket, nullptr, 0);
}

us_socket_t* HeaderFilter::TakeOver(us_socket_t* s, std::string_view bytes, bool late) {
  const int fd = FdOf(s);
  // Rule 2. What the system has not sent yet may have more behind it, in uWebSockets.js.
  const int copy = AllSent(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
  if (copy >= 0 && !owner_.take_over(fd, copy, bytes, late)) close(copy);
  At(fd).ending = true;
  return us_.close(0, s, 0, nullptr);
}

us_socket_t* HeaderFilter::Timeout(us_socket_t* s) { return Of(s).Expire(s); }

us_socket_t* HeaderFilter::Expire(us_socket_t* s) {
  const int fd = FdOf(s);
  Connection& connection = At(fd);
  if (IsAnswering(fd)) {
    if (connection.body_bytes == 0) return theirs_.on_timeout(s);
    us_.set_timeout(0, s, kHeadSeconds);
    return s;
  }
  if (!connection.kept.empty()) return TakeOver(s, std::string(connection.kept), true);
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

us_socket_t* HeaderFilter::Close(us_socket_t* s, int code, void* reason) {
  HeaderFilter& filter = Of(s);
  const int fd = filter.FdOf(s);
  const Connection connection = std::exchange(filter.At(fd), {});
  filter.waiting_bytes_ -= connection.kept.size();
  // By nobody else: its client has reset it. (The code does not tell: libuv hides the reason.)
  const bool reset = !connection.ending && *filter.limits_.current != fd;
  const bool lost = connection.asked && (reset || connection.unsent);
  s = filter.theirs_.on_close(s, code, reason);
  if (connection.half_closed || lost) filter.owner_.closed(fd, lost);
  return s;
}

us_socket_t* HeaderFilter::End(us_socket_t* s) {
  HeaderFilter& filter = Of(s);
  const int fd = filter.FdOf(s);
  Connection& connection = filter.At(fd);
  // Told again when a reply that waited for room has left and the end is read once more.
  if (connection.half_closed) return s;
  connection.unsent = !AllSent(fd);
  connection.ending = true;
  // A request that is not whole is none any more.
  const bool whole = connection.body_bytes == 0 && connection.head == nullptr;
  if (!whole || !filter.owner_.half_closed(fd)) {
    return filter.theirs_.on_end(s);
  }
  connection.half_closed = true;
  return s;
}

}  // namespace oi

#else

namespace oi {

HeaderFilter* HeaderFilter::Create(const std::vector<std::pair<int, void*>>&, int,
                                   const std::string&, FilterLimits, FilterOwner) {
  return nullptr;
}
HeaderFilter::~HeaderFilter() = default;
bool HeaderFilter::Sending() const { return false; }
void HeaderFilter::Probe(int) {}
bool HeaderFilter::IsThere(int) { return true; }
void HeaderFilter::CloseIfSent(int) {}
void HeaderFilter::Resume(int) {}

}  // namespace oi

#endif
