#include "prefix_weights.h"

#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "../error.h"
#include "../model.h"
#include "ggml.h"
#include "llama.h"

// Of llama.cpp's private llama-model.h: its tools read tensors by it.
const std::vector<std::pair<std::string, ggml_tensor*>>& llama_internal_get_tensor_map(
    const llama_model* model);

namespace oi {

PrefixWeights FindPrefixWeights(const Model& model) {
  std::unordered_map<std::string, ggml_tensor*> all;
  for (const auto& [name, tensor] : llama_internal_get_tensor_map(model.get())) {
    all.emplace(name, tensor);
  }
  const auto number = [&](const char* key) {
    return static_cast<size_t>(std::strtoull(model.Meta(key).c_str(), nullptr, 10));
  };
  PrefixWeights weights;
  weights.width = static_cast<size_t>(llama_model_n_embd_out(model.get()));
  weights.heads = static_cast<size_t>(llama_model_n_head(model.get()));
  weights.hidden = number("bert.feed_forward_length");
  weights.epsilon = std::strtof(model.Meta("bert.attention.layer_norm_epsilon").c_str(), nullptr);
  weights.exact = model.exact_matmuls();
  const auto positions = static_cast<size_t>(llama_model_n_ctx_train(model.get()));

  // `columns` as ggml counts; 0 rows: any number.
  const auto find = [&](const std::string& name, size_t columns, size_t rows) {
    const auto refuse = [&](const std::string& what) {
      throw EngineError("ERR_MODEL_UNSUPPORTED", "prefix@1: the tensor " + name + what);
    };
    const auto it = all.find(name);
    if (it == all.end()) refuse(" is missing");
    const ggml_tensor* found = it->second;
    const bool fits = found->ne[0] == static_cast<int64_t>(columns) &&
                      (rows == 0 || found->ne[1] == static_cast<int64_t>(rows));
    if (!fits) refuse(" has another shape than the file's metadata say");
    return it->second;
  };
  const size_t width = weights.width;
  const auto linear = [&](const std::string& name, size_t inputs, size_t outputs) {
    return PrefixWeights::Linear{find(name + ".weight", inputs, outputs),
                                 find(name + ".bias", outputs, 1)};
  };
  const auto norm = [&](const std::string& name) {
    return PrefixWeights::Norm{find(name + ".weight", width, 1), find(name + ".bias", width, 1)};
  };
  weights.tokens = find("token_embd.weight", width, 0);
  weights.positions = find("position_embd.weight", width, positions);
  weights.types = find("token_types.weight", width, 0);
  weights.embedding = norm("token_embd_norm");
  for (int32_t i = 0; i < llama_model_n_layer(model.get()); ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    weights.layers.push_back({
        .query = linear(block + "attn_q", width, width),
        .key = linear(block + "attn_k", width, width),
        .value = linear(block + "attn_v", width, width),
        .output = linear(block + "attn_output", width, width),
        .up = linear(block + "ffn_up", width, weights.hidden),
        .down = linear(block + "ffn_down", weights.hidden, width),
        .attention = norm(block + "attn_output_norm"),
        .feed_forward = norm(block + "layer_output_norm"),
    });
  }
  return weights;
}

}  // namespace oi
