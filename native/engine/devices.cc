#include "devices.h"

#include "error.h"

namespace oi {

Devices FindGpus(const std::string& name) {
  Devices gpus;
  std::string names;
  for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    const auto type = ggml_backend_dev_type(device);
    const bool is_gpu =
        type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
    // What is left is libraries that compute for the CPU.
    if (!is_gpu && type != GGML_BACKEND_DEVICE_TYPE_CPU) continue;
    if (!name.empty() && device == ggml_backend_dev_by_name(name.c_str())) {
      return is_gpu ? Devices{device} : Devices{};
    }
    if (is_gpu) gpus.push_back(device);
    names += (names.empty() ? "" : ", ") + std::string(ggml_backend_dev_name(device));
  }
  if (name.empty()) return gpus;
  throw EngineError("ERR_INVALID_ARGUMENT", "device: expected one of " + names + ", got " + name);
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

}  // namespace oi
