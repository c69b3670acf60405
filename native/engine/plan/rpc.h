// Other machines as devices, by llama.cpp's RPC: "rpc://host:port" is one on which its server runs.

#pragma once

#include <string>

#include "devices.h"

namespace oi {

bool IsRpcName(const std::string& name);

// All devices of that machine. Throws EngineError: ERR_INVALID_ARGUMENT if the name has no port, or
// the addon was built without RPC; ERR_MODEL_LOAD if nothing answers there, which llama.cpp would
// end the process for.
Devices RpcDevices(const std::string& name);

}  // namespace oi
