// Connections whose clients send no more, and what has not left yet.

#include "header_filter.h"

#ifdef __linux__

#include <sys/socket.h>

#include <string_view>

#include "descriptors.h"

namespace oi {

namespace {

constexpr std::string_view kInterim = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

bool HeaderFilter::Sending() const {
  for (size_t fd = 0; fd < connections_.size(); ++fd) {
    const int open = static_cast<int>(fd);
    if (connections_[fd].socket != nullptr && !AllSent(open) && !IsOver(open)) return true;
  }
  return false;
}

void HeaderFilter::Probe(int fd) {
  [[maybe_unused]] const auto sent =
      send(fd, kInterim.data(), kInterim.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool HeaderFilter::IsThere(int fd) {
  if (!At(fd).half_closed) return false;
  if (!IsOver(fd)) return true;
  us_.close(0, At(fd).socket, 0, nullptr);
  return false;
}

void HeaderFilter::CloseIfSent(int fd) {
  Connection& connection = At(fd);
  if (!connection.half_closed) return;
  const bool sent = AllSent(fd);
  // Its system may have reset it in the middle of the reply: all will never have left then.
  if (!sent && !IsOver(fd)) return;
  connection.unsent = connection.unsent || !sent;
  us_.close(0, connection.socket, 0, nullptr);
}

}  // namespace oi

#endif
