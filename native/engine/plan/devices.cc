#include "devices.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "../error.h"
#include "rpc.h"

namespace oi {
namespace {

bool IsGpu(ggml_backend_dev_t device) {
  const auto type = ggml_backend_dev_type(device);
  return type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
}

const char* IdOf(ggml_backend_dev_t device) {
  ggml_backend_dev_props props{};
  ggml_backend_dev_get_props(device, &props);
  return props.device_id;
}

// One GPU may be known to two backends.
bool Same(ggml_backend_dev_t a, ggml_backend_dev_t b) {
  const char* const id = IdOf(a);
  const char* const other = IdOf(b);
  return id != nullptr && other != nullptr && std::strcmp(id, other) == 0 &&
         ggml_backend_dev_backend_reg(a) != ggml_backend_dev_backend_reg(b);
}

Devices AllGpus() {
  Devices gpus;
  for (const auto type : {GGML_BACKEND_DEVICE_TYPE_GPU, GGML_BACKEND_DEVICE_TYPE_IGPU}) {
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
      ggml_backend_dev_t device = ggml_backend_dev_get(i);
      const auto same = [&](ggml_backend_dev_t other) { return Same(device, other); };
      if (ggml_backend_dev_type(device) != type || std::any_of(gpus.begin(), gpus.end(), same)) {
        continue;
      }
      gpus.push_back(device);
    }
    if (!gpus.empty()) break;
  }
  return gpus;
}

std::string Names() {
  std::string names;
  for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    // What is left is libraries that compute for the CPU.
    if (!IsGpu(device) && ggml_backend_dev_type(device) != GGML_BACKEND_DEVICE_TYPE_CPU) continue;
    names += (names.empty() ? "" : ", ") + std::string(ggml_backend_dev_name(device));
  }
  return names;
}

}  // namespace

Devices FindGpus(const std::string& name) {
  if (name.empty()) return AllGpus();
  Devices gpus;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('+', begin), name.size());
    const std::string one = name.substr(begin, end - begin);
    begin = end + 1;
    if (IsRpcName(one)) {
      const Devices machine = RpcDevices(one);
      gpus.insert(gpus.end(), machine.begin(), machine.end());
      continue;
    }
    ggml_backend_dev_t device = one.empty() ? nullptr : ggml_backend_dev_by_name(one.c_str());
    const bool gpu = device != nullptr && IsGpu(device);
    const bool cpu =
        device != nullptr && ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU;
    const bool twice = std::find(gpus.begin(), gpus.end(), device) != gpus.end();
    if ((!gpu && !cpu) || twice || (cpu && one.size() < name.size())) {
      throw EngineError("ERR_INVALID_ARGUMENT", "device: expected one of " + Names() +
                                                    ", or several GPUs with + between them, got " +
                                                    name);
    }
    if (gpu) gpus.push_back(device);
  }
  return gpus;
}

std::string Describe(const Devices& devices) {
  std::string text;
  for (ggml_backend_dev_t device : devices) {
    if (!text.empty()) text += ", ";
    text += std::string(ggml_backend_dev_name(device)) + " (" +
            ggml_backend_dev_description(device) + ")";
  }
  return text;
}

std::optional<uint64_t> FreeBytes(ggml_backend_dev_t device) {
  size_t free = 0;
  size_t total = 0;
  ggml_backend_dev_memory(device, &free, &total);
  const char* const pretended = std::getenv("OI_TEST_DEVICE_BYTES");
  const uint64_t limit = pretended == nullptr ? 0 : std::strtoull(pretended, nullptr, 10);
  if (total == 0) return limit > 0 ? std::optional<uint64_t>(limit) : std::nullopt;
  return limit > 0 ? std::min<uint64_t>(free, limit) : free;
}

}  // namespace oi
