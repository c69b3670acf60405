#include "memory.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "llama.h"
#include "model.h"

namespace oi {
namespace {

uint64_t Number(const Model& model, const std::string& key, uint64_t fallback) {
  const std::string text = model.Meta(model.Meta("general.architecture") + "." + key);
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 10);
  // An array (a value per layer) comes as "[8, 8, …]" and is no number.
  return text.empty() || *end != '\0' ? fallback : value;
}

}  // namespace

uint64_t ContextBytes(const Model& model, uint32_t context_tokens, uint32_t sequences,
                      CacheType type) {
  const uint64_t layers = static_cast<uint64_t>(llama_model_n_layer(model.get()));
  const uint64_t heads = static_cast<uint64_t>(std::max(1, llama_model_n_head(model.get())));
  const uint64_t kv_heads = static_cast<uint64_t>(llama_model_n_head_kv(model.get()));
  const uint64_t width = static_cast<uint64_t>(llama_model_n_embd(model.get())) / heads;
  const uint64_t key_width = Number(model, "attention.key_length", width);
  const uint64_t value_width = Number(model, "attention.value_length", width);

  // Hybrids of the Qwen 3.5 kind: every interval-th layer attends, the others keep a state.
  const uint64_t interval = std::max<uint64_t>(1, Number(model, "full_attention_interval", 1));
  const uint64_t attending = llama_model_is_recurrent(model.get()) ? 0 : layers / interval;
  const uint64_t bytes_each = type == CacheType::kF32 ? 4 : 2;
  uint64_t bytes = context_tokens * attending * kv_heads * (key_width + value_width) * bytes_each;

  if (model.recurrent()) {
    const uint64_t inner = Number(model, "ssm.inner_size", 0);
    const uint64_t state = Number(model, "ssm.state_size", 0);
    const uint64_t groups = Number(model, "ssm.group_count", 0);
    const uint64_t kernel = std::max<uint64_t>(1, Number(model, "ssm.conv_kernel", 1));
    const uint64_t per_layer = inner * state + (kernel - 1) * (inner + 2 * groups * state);
    bytes += sequences * (layers - attending) * per_layer * sizeof(float);
  }
  return bytes;
}

}  // namespace oi
