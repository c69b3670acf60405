// Connections whose clients send no more, and what has not left yet.

#include "gate.h"

#ifdef __linux__

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string_view>

#include "descriptors.h"

namespace oi {

namespace {

constexpr std::string_view kInterim = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

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

#endif
