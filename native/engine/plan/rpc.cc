#include "rpc.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "../error.h"
#ifdef OI_RPC
#include "ggml-rpc.h"
#endif

namespace oi {
namespace {

constexpr char kScheme[] = "rpc://";
constexpr size_t kSchemeLength = sizeof(kScheme) - 1;

#ifdef OI_RPC
constexpr int kConnectMs = 3000;

// Whether a connection can be made.
bool Answers(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return false;
  bool answers = false;
  for (const addrinfo* one = found; one != nullptr && !answers; one = one->ai_next) {
    const int fd = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
    if (fd < 0) continue;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    answers = connect(fd, one->ai_addr, one->ai_addrlen) == 0;
    if (!answers && errno == EINPROGRESS) {
      pollfd wait{fd, POLLOUT, 0};
      int error = 0;
      socklen_t size = sizeof(error);
      answers = poll(&wait, 1, kConnectMs) == 1 &&
                getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
    }
    close(fd);
  }
  freeaddrinfo(found);
  return answers;
}
#endif

}  // namespace

bool IsRpcName(const std::string& name) { return name.compare(0, kSchemeLength, kScheme) == 0; }

Devices RpcDevices(const std::string& name) {
  const std::string endpoint = name.substr(kSchemeLength);
  const size_t colon = endpoint.rfind(':');
  if (colon == 0 || colon == std::string::npos || colon + 1 == endpoint.size()) {
    throw EngineError("ERR_INVALID_ARGUMENT",
                      "device: expected a machine as rpc://10.0.0.2:50052, got " + name);
  }
#ifdef OI_RPC
  ggml_backend_reg_t machine = nullptr;
  if (Answers(endpoint.substr(0, colon), endpoint.substr(colon + 1))) {
    machine = ggml_backend_rpc_add_server(endpoint.c_str());
  }
  if (machine == nullptr) {
    throw EngineError("ERR_MODEL_LOAD", name +
                                            ": nothing answers there (oi rpc-server, started on "
                                            "that machine, does)");
  }
  Devices devices;
  for (size_t i = 0; i < ggml_backend_reg_dev_count(machine); ++i) {
    devices.push_back(ggml_backend_reg_dev_get(machine, i));
  }
  return devices;
#else
  throw EngineError("ERR_INVALID_ARGUMENT",
                    name + ": this addon was built without RPC (npm run build -- --rpc)");
#endif
}

}  // namespace oi
