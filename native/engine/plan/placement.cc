#include "placement.h"

#include <algorithm>

#include "../model.h"
#include "llama.h"

namespace oi {

std::vector<Placement> EmptyPlacement(const Devices& gpus) {
  std::vector<Placement> placement;
  for (ggml_backend_dev_t gpu : gpus) {
    Placement& entry = placement.emplace_back();
    entry.device = ggml_backend_dev_name(gpu);
    entry.description = ggml_backend_dev_description(gpu);
    entry.free_bytes = FreeBytes(gpu).value_or(0);
  }
  placement.emplace_back().device = "CPU";
  return placement;
}

Placement& EntryOf(std::vector<Placement>& placement, const std::string& buffer) {
  const auto it = std::find_if(placement.begin(), placement.end() - 1, [&](const Placement& entry) {
    const size_t length = entry.device.size();
    // "MTL0_Mapped" is MTL0's, "CUDA10" is not CUDA1's.
    return buffer.compare(0, length, entry.device) == 0 &&
           (buffer.size() == length || buffer[length] == '_');
  });
  return *it;
}

void AddLogged(std::vector<Placement>& placement, const LoggedMemory& logged) {
  for (const auto& [name, buffers] : logged.buffers) {
    Placement& entry = EntryOf(placement, name);
    entry.weight_bytes += static_cast<uint64_t>(buffers.weights);
    entry.cell_bytes += static_cast<uint64_t>(buffers.cells);
    entry.buffer_bytes += static_cast<uint64_t>(buffers.compute + buffers.outputs);
  }
  for (const auto& [device, layers] : logged.layers) EntryOf(placement, device).layers += layers;
}

std::vector<Placement> PlacementOf(const Model& model, const std::vector<Placement>& planned) {
  std::vector<Placement> placement = EmptyPlacement(model.gpus());
  for (size_t i = 0; i + 1 < placement.size() && i + 1 < planned.size(); ++i) {
    placement[i].free_bytes = planned[i].free_bytes;
  }
  AddLogged(placement, model.memory());
  // Of a file that is mapped, llama.cpp counts all between the first and the last tensor.
  Placement& ram = placement.back();
  ram.weight_bytes = std::min<uint64_t>(ram.weight_bytes, llama_model_size(model.get()));
  return placement;
}

std::string Gigabytes(uint64_t bytes) {
  if (bytes < 1ull << 30) return std::to_string((bytes + (1ull << 19)) >> 20) + " MiB";
  const uint64_t tenths = (bytes * 10 + (1ull << 29)) >> 30;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

}  // namespace oi
