// The models that can be made: small fixtures for tests, and the shapes of real models.
//
// A shape model has the hyperparameters of the model that it is named after, so it costs
// the same time and memory; its weights are random, so it knows nothing. Two things differ
// from the real ones, neither with a cost: Llama 3.2 has no rope scaling factors, and
// Qwen 3.5 has neither its draft head (which plain decoding never runs) nor its own token
// list (the vendored one is shorter and is padded).

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace oi {

// What a file's hidden states are pooled for (pooled_head.h).
enum class Pooled { kNone, kReranker, kClassifier, kEmbedding };

struct Shape {
  const char* name;
  const char* architecture;  // llama.cpp's name: qwen3, qwen35, qwen2vl, qwen3moe, gemma3, …
  const char* vocabulary;    // ggml-vocab-NAME.gguf, unless the caller chooses another
  uint32_t vocabulary_size;  // the token list is padded to it; 0: as long as it comes
  uint32_t layers;
  uint32_t width;
  uint32_t feed_forward;
  uint32_t heads;
  uint32_t kv_heads;
  uint32_t head_width;
  uint32_t context;
  float rope_base;
  float norm_epsilon;
  bool tied;  // the output head is the token embedding

  // qwen35 and lfm2 only: full attention in every n-th layer. qwen35: gated delta nets in others.
  uint32_t attention_interval = 0;
  uint32_t state_width = 0;
  uint32_t key_heads = 0;
  uint32_t value_heads = 0;

  // gemma3 and gpt-oss only: tokens that the layers of a sliding window see; every n-th sees all.
  uint32_t window = 0;
  uint32_t window_interval = 0;

  // lfm2 only: width of the convolutions, in all layers but every attention_interval-th.
  uint32_t convolution = 0;

  // qwen3moe and gpt-oss only.
  uint32_t experts = 0;
  uint32_t experts_used = 0;

  // bert, modern-bert and qwen3 only. An encoder without has a head of prefix@1.
  Pooled pooled = Pooled::kNone;

  uint32_t KeyWidth() const { return state_width * key_heads; }
  uint32_t ValueWidth() const { return state_width * value_heads; }
  bool IsRecurrent(uint32_t layer) const {
    return attention_interval > 0 && (layer + 1) % attention_interval != 0;
  }
};

const std::vector<Shape>& Shapes();

// Throws std::runtime_error that lists the known names.
const Shape& FindShape(std::string_view name);

}  // namespace oi
