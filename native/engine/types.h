// What crosses the engine's border: requests as text and as tokens, results, facts about a model.
// Plain data, no types of llama.cpp.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stats.h"

namespace oi {

using Token = int32_t;

// An image as it comes: RGB, 8 bits each, row by row from the top.
struct Pixels {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> rgb;
};

// What an encoded image is known by: a hash of its pixels, of which part of them it is, and of the
// projector.
using ImageKey = std::array<uint64_t, 4>;
struct Image;  // input/vision.h

// A run of prompt text, or an image in its place. Control tokens are recognised in trusted text
// only.
struct TextPart {
  std::string text;
  bool trusted = false;
  std::shared_ptr<const Pixels> image;
};

// A question behind the shared prefix. Without candidates it is not evaluated.
struct Question {
  std::vector<TextPart> parts;
  std::vector<Token> candidates;
  bool counted = true;  // false: it says what another one says, and adds nothing to the usage
};

struct ScoreRequest {
  std::string scope;  // who shares what is evaluated for it (cache/wanted.h)
  std::vector<TextPart> prefix;
  std::vector<Question> questions;
};

struct TokenizedQuestion {
  std::vector<Token> tokens;
  std::vector<Token> candidates;
  bool counted = true;
};

struct TokenizedRequest {
  std::string scope;           // as in ScoreRequest
  std::vector<Token> prefix;   // input/image_tokens.h: what stands for an image
  size_t template_tokens = 0;  // of its first tokens: those before a caller's first text or image
  std::vector<std::shared_ptr<const Image>> images;  // of the prefix, in order
  std::vector<TokenizedQuestion> questions;
};

struct ScoreResult {
  // Per question with k > 0 candidates: k logits, then the log-sum-exp over the vocabulary, nats.
  std::vector<float> logits;
  // Per question with candidates: tokens of the vocabulary that are likelier than its likeliest
  // candidate.
  std::vector<int32_t> ranks;
  // What was sent, each part once, however often a model reads it.
  size_t prefix_tokens = 0;
  size_t image_tokens = 0;   // of the prefix
  size_t suffix_tokens = 0;  // of the questions that are counted
  // What was evaluated for the answer.
  size_t evaluated_tokens = 0;
  // Prefix tokens that were not evaluated for this request, and the tier that had most of them.
  size_t cached_tokens = 0;
  Tier tier = Tier::kNone;
};

// The part of a model that lies in the memory of one device; bytes.
struct Placement {
  std::string device;       // as ggml calls it: "CPU", "CUDA0"
  std::string description;  // as "NVIDIA H100 80GB HBM3"; "" of the CPU
  uint32_t layers = 0;      // the output head is one
  uint64_t weight_bytes = 0;
  uint64_t cell_bytes = 0;    // of K and V, and recurrent states
  uint64_t buffer_bytes = 0;  // compute buffers, inputs and outputs
  uint64_t free_bytes = 0;    // before anything of it was there; 0 if the device does not say

  uint64_t bytes() const { return weight_bytes + cell_bytes + buffer_bytes; }
};

enum class FlashAttention { kAuto, kOn, kOff };
enum class CacheType { kF16, kF32, kBF16 };
// How a model is divided among several GPUs: by layers, or each matrix by its rows.
enum class Split { kLayer, kRow };

// Complete: src/engine fills in every default before it comes here. 0 means "choose".
struct EngineOptions {
  std::string model_path;
  std::string projector_path;  // "" for a model that reads text only
  uint32_t context_tokens = 0;
  uint32_t max_forks = 0;
  uint32_t batch_tokens = 0;
  uint32_t microbatch_tokens = 0;
  uint32_t threads = 0;
  std::string device;  // names of ggml's in any case, with + between them; "" for all GPUs
  Split split = Split::kLayer;
  std::vector<float> tensor_split;  // shares of the GPUs; empty: by their free memory
  int32_t gpu_layers = -1;          // the output head is one; < 0: as many as fit
  int32_t cpu_experts = -1;         // first layers whose experts stay in RAM; < 0: choose
  FlashAttention flash_attention = FlashAttention::kAuto;
  CacheType cache_type = CacheType::kF16;
  bool mmap = true;
  bool mlock = false;   // what is in RAM of the weights stays there
  bool kernels = true;  // our own on the CPU, where it has them
  bool deterministic = false;
  int64_t host_bytes = -1;  // of the state cache's host tier; < 0: choose
  std::string disk_folder;  // "" for no disk tier
  uint64_t disk_bytes = 0;
  bool metadata_only = false;  // vocabulary and shapes; score() is refused
};

struct ModelFacts {
  std::string architecture;
  std::string description;
  std::string device;  // "CPU", or names and descriptions of GPUs
  std::vector<Placement> placement;
  std::vector<std::string> notes;  // what was chosen otherwise than asked for, and why
  std::string kernels;             // instructions that our own use; "" if none are used
  std::string chat_template;
  bool has_chat_template = false;
  std::vector<std::pair<std::string, std::string>> chat_templates;  // the others, by name
  std::string bos_token;
  std::string eos_token;
  uint64_t parameters = 0;
  uint64_t weight_bytes = 0;
  uint64_t context_bytes = 0;
  int32_t vocabulary_size = 0;
  int32_t trained_context_tokens = 0;
  uint32_t context_tokens = 0;
  uint32_t max_state_tokens = 0;  // of a state with a question; fewer than cells in some encoders
  uint32_t max_forks = 0;
  uint32_t threads = 0;
  bool same_bits = false;  // no bit of an answer depends on what else runs
  uint32_t step_tokens = 0;
  uint64_t host_bytes = 0;
  bool recurrent = false;
  bool hybrid = false;
  bool vision = false;
  std::vector<std::pair<std::string, std::string>> metadata;  // scalars, as text
  std::vector<uint8_t> ordinary;  // per token: 1 if Tokenizer::Ordinary()
};

}  // namespace oi
