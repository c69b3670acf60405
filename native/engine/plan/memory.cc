#include "memory.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "../../kernels/kernels.h"
#include "../log.h"
#include "../model.h"
#include "llama.h"

namespace oi {
namespace {

uint64_t Number(const Model& model, const std::string& key, uint64_t fallback) {
  const std::string text = model.Meta(model.Meta("general.architecture") + "." + key);
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 10);
  // An array (a value per layer) comes as "[8, 8, …]" and is no number.
  return text.empty() || *end != '\0' ? fallback : value;
}

// Nothing if llama.cpp makes no such context, or does not say what it takes.
std::optional<ContextCost> MeasuredCost(const Model& model, CacheType type) {
  constexpr uint32_t kCells = 256;  // to which llama.cpp rounds up
  llama_context_params params = llama_context_default_params();
  params.n_ctx = kCells;
  params.n_batch = 1;
  params.n_ubatch = 1;
  params.n_seq_max = 1;
  params.n_outputs_max = 1;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.type_k = CacheGgmlType(type);
  params.type_v = CacheGgmlType(type);
  params.no_perf = true;
  params.kv_unified = true;
  params.swa_full = true;
  ClearLog();
  // Without it, llama.cpp finds nobody who could compute with tiled weights, and aborts.
  const kernels::LoadScope use_kernels(model.kernels());
  const std::unique_ptr<llama_context, decltype(&llama_free)> context(
      llama_init_from_model(model.get(), params), &llama_free);
  const LoggedMemory logged = MemoryLogged();
  if (!context || logged.cell_bytes + logged.state_bytes <= 0) return std::nullopt;
  return ContextCost{.cell_bytes = logged.cell_bytes / kCells, .state_bytes = logged.state_bytes};
}

}  // namespace

ggml_type CacheGgmlType(CacheType type) {
  switch (type) {
    case CacheType::kF32:
      return GGML_TYPE_F32;
    case CacheType::kBF16:
      return GGML_TYPE_BF16;
    case CacheType::kF16:
      break;
  }
  return GGML_TYPE_F16;
}

ContextCost CostOfContext(const Model& model, CacheType type) {
  if (model.recurrent()) {
    if (const auto measured = MeasuredCost(model, type)) return *measured;
  }
  const auto layers = static_cast<double>(llama_model_n_layer(model.get()));
  const auto kv_heads = static_cast<double>(llama_model_n_head_kv(model.get()));
  const int32_t heads = std::max(1, llama_model_n_head(model.get()));
  const auto width = static_cast<uint64_t>(llama_model_n_embd(model.get()) / heads);
  const auto values = static_cast<double>(Number(model, "attention.key_length", width) +
                                          Number(model, "attention.value_length", width));
  const double bytes_each = type == CacheType::kF32 ? 4 : 2;
  return {.cell_bytes = layers * kv_heads * values * bytes_each, .state_bytes = 0};
}

}  // namespace oi
