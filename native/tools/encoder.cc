#include "encoder.h"

#include <string>
#include <string_view>

#include "random.h"

namespace oi {
namespace {

constexpr uint32_t kTokenTypes = 2;
// A token's own vector counts more than its place, or the order of options would decide.
constexpr float kPlaceGain = 0.25f;
// Scores of attention with a deviation of 2, as architecture.cc has them.
constexpr float kAttentionGain = 1.41421356f;

constexpr uint32_t kHidden = 32;
// Logits further apart than a random head's own would be.
constexpr float kOutputGain = 4.0f;

void SetArray(gguf_context* out, const char* key, const Tensor& tensor, uint64_t seed) {
  std::vector<float> values(static_cast<size_t>(tensor.Elements()));
  FillValues(tensor, seed, 0, tensor.Elements(), values.data());
  gguf_set_arr_data(out, key, GGUF_TYPE_FLOAT32, values.data(), values.size());
}

bool IsModern(const Shape& shape) { return std::string_view(shape.architecture) == "modern-bert"; }

// Norms before attention and feed-forward, rotated positions, and no biases.
std::vector<Tensor> ModernTensors(const Shape& shape, int64_t vocabulary_size) {
  const int64_t width = shape.width;
  const int64_t hidden = shape.feed_forward;
  std::vector<Tensor> tensors;
  const auto add = [&](const std::string& name, int64_t inputs, int64_t outputs) {
    tensors.push_back({name + ".weight", Fill::kMatrix, {inputs, outputs}});
  };
  const auto add_norm = [&](const std::string& name) {
    tensors.push_back({name + ".weight", Fill::kNorm, {width}});
  };
  add("token_embd", width, vocabulary_size);
  add_norm("token_embd_norm");
  for (uint32_t layer = 0; layer < shape.layers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    // The embedding is normalized already.
    if (layer > 0) add_norm(block + "attn_norm");
    add(block + "attn_qkv", width, 3 * width);
    add(block + "attn_output", width, width);
    add_norm(block + "ffn_norm");
    add(block + "ffn_up", width, 2 * hidden);
    add(block + "ffn_down", hidden, width);
  }
  add_norm("output_norm");
  return tensors;
}

}  // namespace

bool IsEncoder(const Shape& shape) {
  return std::string_view(shape.architecture) == "bert" || IsModern(shape);
}

std::vector<Tensor> EncoderTensors(const Shape& shape, int64_t vocabulary_size) {
  if (IsModern(shape)) return ModernTensors(shape, vocabulary_size);
  std::vector<Tensor> tensors;
  const int64_t width = shape.width;
  const auto add = [&](const std::string& name, int64_t inputs, int64_t outputs, float gain) {
    tensors.push_back({name + ".weight", Fill::kMatrix, {inputs, outputs}, gain});
    // Biases are F32, as convolutions are, and drawn like them.
    tensors.push_back({name + ".bias", Fill::kConvolution, {outputs}});
  };
  const auto add_norm = [&](const std::string& name) {
    tensors.push_back({name + ".weight", Fill::kNorm, {width}});
    tensors.push_back({name + ".bias", Fill::kConvolution, {width}});
  };
  tensors.push_back({"token_embd.weight", Fill::kMatrix, {width, vocabulary_size}});
  // In F32, as biases are: llama.cpp adds them, and its CPU backend adds nothing else.
  const auto add_places = [&](const char* name, int64_t count) {
    tensors.push_back({name, Fill::kConvolution, {width, count}, kPlaceGain});
  };
  add_places("position_embd.weight", shape.context);
  add_places("token_types.weight", kTokenTypes);
  add_norm("token_embd_norm");
  for (uint32_t layer = 0; layer < shape.layers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    add(block + "attn_q", width, width, kAttentionGain);
    add(block + "attn_k", width, width, kAttentionGain);
    add(block + "attn_v", width, width, 1.0f);
    add(block + "attn_output", width, width, 1.0f);
    add_norm(block + "attn_output_norm");
    add(block + "ffn_up", width, shape.feed_forward, 1.0f);
    add(block + "ffn_down", shape.feed_forward, width, 1.0f);
    add_norm(block + "layer_output_norm");
  }
  return tensors;
}

void SetEncoderHyperparameters(const Shape& shape, int64_t vocabulary_size, gguf_context* out) {
  const std::string prefix = std::string(shape.architecture) + ".";
  const auto set = [&](const char* key, uint32_t value) {
    gguf_set_val_u32(out, (prefix + key).c_str(), value);
  };
  set("vocab_size", static_cast<uint32_t>(vocabulary_size));
  set("context_length", shape.context);
  set("block_count", shape.layers);
  set("embedding_length", shape.width);
  set("feed_forward_length", shape.feed_forward);
  set("attention.head_count", shape.heads);
  set("pooling_type", 0);
  gguf_set_val_bool(out, (prefix + "attention.causal").c_str(), false);
  gguf_set_val_f32(out, (prefix + "attention.layer_norm_epsilon").c_str(), shape.norm_epsilon);
  if (IsModern(shape)) {
    gguf_set_val_f32(out, (prefix + "rope.freq_base").c_str(), shape.rope_base);
  } else {
    gguf_set_val_u32(out, "tokenizer.ggml.token_type_count", kTokenTypes);
  }
}

void SetParts(const Shape& shape, uint64_t seed, gguf_context* out) {
  constexpr int64_t kKinds = 3;
  gguf_set_val_str(out, "oi.readout", "prefix@1");
  const uint32_t types[] = {0, 1, 1};
  gguf_set_arr_data(out, "oi.prefix.token_types", GGUF_TYPE_UINT32, types, std::size(types));
  const auto set = [&](const char* key, std::vector<int64_t> dims, float gain) {
    const std::string name = std::string("oi.prefix.head.") + key;
    SetArray(out, name.c_str(), {key, Fill::kMatrix, std::move(dims), gain}, seed);
  };
  set("hidden.weight", {shape.width, kHidden}, 1.0f);
  set("hidden.bias", {kHidden}, 1.0f);
  set("output.weight", {kHidden, kKinds}, kOutputGain);
  set("output.bias", {kKinds}, 1.0f);
}

}  // namespace oi
