#include "send_datagram.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace oi {

int SendDatagram(const std::string& path, const std::string& text) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An address of a file ends with a zero; of an abstract socket every byte counts.
  const bool abstract = !path.empty() && path[0] == '@';
  const size_t bytes = path.size() + (abstract ? 0 : 1);
  if (path.empty()) return EINVAL;
  if (bytes > sizeof(address.sun_path)) return ENAMETOOLONG;
  std::memcpy(address.sun_path, path.c_str(), bytes);
  if (abstract) address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bytes);

  const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (fd < 0) return errno;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  const ssize_t sent = sendto(fd, text.data(), text.size(), MSG_DONTWAIT,
                              reinterpret_cast<const sockaddr*>(&address), length);
  const int error = sent < 0 ? errno : 0;
  close(fd);
  return error;
}

}  // namespace oi
