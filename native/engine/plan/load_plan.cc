#include "load_plan.h"

#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "../../kernels/kernels.h"
#include "../../machine/available_bytes.h"
#include "devices.h"
#include "gpu_plan.h"
#include "placement.h"

namespace oi {
namespace {

constexpr char kGpus[] = OI_GPUS;  // what this is built for; "" for the CPU alone

// Bytes of all parts of a model; the path may be the first of several: "…-00001-of-00003.gguf".
uint64_t FileBytes(const std::string& path) {
  std::error_code error;
  const auto size = [&](const std::string& part) -> uint64_t {
    const uintmax_t bytes = std::filesystem::file_size(part, error);
    return error ? 0 : bytes;
  };
  constexpr size_t kEnding = sizeof("-00001-of-00003.gguf") - 1;
  unsigned parts = 0;
  if (path.size() < kEnding ||
      std::sscanf(path.c_str() + path.size() - kEnding, "-00001-of-%5u.gguf", &parts) != 1) {
    return size(path);
  }
  uint64_t sum = 0;
  for (unsigned part = 1; part <= parts; ++part) {
    char ending[kEnding + 1];
    std::snprintf(ending, sizeof(ending), "-%05u-of-%05u.gguf", part % 100000, parts % 100000);
    sum += size(path.substr(0, path.size() - kEnding) + ending);
  }
  return sum;
}

// Our kernels convert weights into memory of their own, which the system cannot drop as it drops
// pages of a mapped file. So a model larger than RAM goes without them.
void KeepMapped(LoadPlan& plan) {
  EngineOptions& options = plan.options;
  const std::optional<uint64_t> available = AvailableBytes();
  if (!options.kernels || !options.mmap || !available || kernels::Description().empty()) return;
  const uint64_t bytes = FileBytes(options.model_path);
  if (bytes <= *available) return;
  options.kernels = false;
  plan.notes.push_back("kernels off: weights of " + Gigabytes(bytes) + " are more than the " +
                       Gigabytes(*available) + " of RAM that are available, so they stay mapped");
}

}  // namespace

LoadPlan PlanLoad(const EngineOptions& options, uint32_t default_threads,
                  const std::atomic<bool>& stop) {
  LoadPlan plan{options, {}, {}};
  if (options.gpu_layers != 0) {
    if (!FindGpus(options.device).empty()) {
      plan = PlanForGpus(options, default_threads, stop);
    } else if (kGpus[0] != '\0' && options.device.empty()) {
      plan.notes.push_back(std::string("built for ") + kGpus +
                           ", but no GPU was found: the model runs on the CPU");
    }
  }
  if (plan.placement.empty()) KeepMapped(plan);
  return plan;
}

}  // namespace oi
