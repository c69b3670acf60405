// What crosses the engine's border: text and token requests, results, facts about a model.
// Plain data, no llama.cpp types.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace oi {

using Token = int32_t;

// A run of prompt text. Control tokens are recognised in trusted text only.
struct TextPart {
  std::string text;
  bool trusted = false;
};

// A question behind the shared prefix. Without candidates it is counted, not evaluated.
struct Question {
  std::vector<TextPart> parts;
  std::vector<Token> candidates;
};

struct ScoreRequest {
  std::vector<TextPart> prefix;
  std::vector<Question> questions;
};

struct TokenizedQuestion {
  std::vector<Token> tokens;
  std::vector<Token> candidates;
};

struct TokenizedRequest {
  std::vector<Token> prefix;
  std::vector<TokenizedQuestion> questions;
};

struct ScoreResult {
  // Per question with k > 0 candidates: k logits, then the log-sum-exp over the vocabulary.
  std::vector<float> logits;
  size_t prefix_tokens = 0;
  size_t suffix_tokens = 0;
  size_t cached_tokens = 0;
};

enum class FlashAttention { kAuto, kOn, kOff };
enum class CacheType { kF16, kF32, kBF16 };

// Complete: src/engine fills in every default before it comes here. 0 means "choose".
struct EngineOptions {
  std::string model_path;
  uint32_t context_tokens = 0;
  uint32_t max_forks = 0;
  uint32_t batch_tokens = 0;
  uint32_t microbatch_tokens = 0;
  uint32_t threads = 0;
  int32_t gpu_layers = -1;  // < 0: all
  FlashAttention flash_attention = FlashAttention::kAuto;
  CacheType cache_type = CacheType::kF16;
  bool mmap = true;
  bool metadata_only = false;  // vocabulary and shapes; score() is refused
};

struct ModelFacts {
  std::string architecture;
  std::string description;
  std::string device;
  std::string chat_template;
  bool has_chat_template = false;
  std::string bos_token;
  std::string eos_token;
  uint64_t parameters = 0;
  uint64_t weight_bytes = 0;
  uint64_t context_bytes = 0;
  int32_t vocabulary_size = 0;
  int32_t trained_context_tokens = 0;
  uint32_t context_tokens = 0;
  uint32_t max_forks = 0;
  uint32_t threads = 0;
  bool recurrent = false;
  bool hybrid = false;
  std::vector<std::pair<std::string, std::string>> metadata;  // scalars, as text
  std::vector<uint8_t> ordinary;  // per token: 1 if Tokenizer::Ordinary()
};

}  // namespace oi
