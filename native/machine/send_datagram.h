// Sends a datagram to a Unix domain socket, which Node cannot.

#pragma once

#include <string>

namespace oi {

// Sends `text` as one datagram, from a socket that is closed again, and never waits. A `path` that
// begins with '@' names an abstract socket of Linux. Returns 0, or the error's number: ENAMETOOLONG
// for a path that fits into no address, EAGAIN where the receiver's queue is full, ENOSYS where the
// system has no such sockets.
int SendDatagram(const std::string& path, const std::string& text);

}  // namespace oi
