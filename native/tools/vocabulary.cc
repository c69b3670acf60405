#include "vocabulary.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include "llama.h"

namespace oi {
namespace {

namespace fs = std::filesystem;

constexpr char kTokensKey[] = "tokenizer.ggml.tokens";
constexpr char kTypesKey[] = "tokenizer.ggml.token_type";
constexpr char kScoresKey[] = "tokenizer.ggml.scores";
constexpr char kTemplateKey[] = "tokenizer.chat_template";

constexpr std::string_view kFilePrefix = "ggml-vocab-";
constexpr std::string_view kFileSuffix = ".gguf";

// Tokens that Qwen 3 added to the vocabulary of Qwen 1.5, which is what the vendored file
// holds: their places are there, under placeholder names. The first of them has this id.
constexpr size_t kQwenAddedId = 151646;
constexpr const char* kQwenAdded[] = {
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
    "<tool_call>",
    "</tool_call>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
};

struct GgufDeleter {
  void operator()(gguf_context* file) const { gguf_free(file); }
};
using GgufFile = std::unique_ptr<gguf_context, GgufDeleter>;

GgufFile Open(const std::string& directory, const std::string& name) {
  const fs::path path =
      fs::path(directory) / (std::string(kFilePrefix) + name + std::string(kFileSuffix));
  if (fs::exists(path)) {
    GgufFile file(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}));
    if (!file) throw std::runtime_error(path.string() + " is not a GGUF file");
    if (gguf_find_key(file.get(), kTokensKey) < 0 || gguf_find_key(file.get(), kTypesKey) < 0) {
      throw std::runtime_error(path.string() +
                               " lacks a token list with types; use another --vocab");
    }
    return file;
  }
  std::vector<std::string> known;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string file = entry.path().filename();
    if (file.starts_with(kFilePrefix) && file.ends_with(kFileSuffix)) {
      known.push_back(
          file.substr(kFilePrefix.size(), file.size() - kFilePrefix.size() - kFileSuffix.size()));
    }
  }
  std::sort(known.begin(), known.end());
  std::string message = "No vocabulary " + name + " in " + directory + "; use --vocab with one of";
  for (const std::string& other : known) message += " " + other;
  throw std::runtime_error(message);
}

// The token list, taken out of a file and put back.
class TokenList {
 public:
  explicit TokenList(const gguf_context* file) {
    const int64_t tokens = gguf_find_key(file, kTokensKey);
    const int64_t types = gguf_find_key(file, kTypesKey);
    const int64_t scores = gguf_find_key(file, kScoresKey);
    const size_t count = gguf_get_arr_n(file, tokens);
    for (size_t i = 0; i < count; ++i) tokens_.push_back(gguf_get_arr_str(file, tokens, i));
    const auto* type = static_cast<const int32_t*>(gguf_get_arr_data(file, types));
    types_.assign(type, type + count);
    if (scores >= 0) {
      const auto* score = static_cast<const float*>(gguf_get_arr_data(file, scores));
      scores_.assign(score, score + count);
    }
  }

  size_t Size() const { return tokens_.size(); }

  // Size() if there is none.
  size_t Find(const std::string& text) const {
    return std::find(tokens_.begin(), tokens_.end(), text) - tokens_.begin();
  }

  void Add(const std::string& text, llama_token_type type) {
    tokens_.push_back(text);
    types_.push_back(type);
    if (!scores_.empty()) scores_.push_back(0.0f);
  }

  void AddMissing(const std::vector<std::string>& texts, llama_token_type type) {
    for (const std::string& text : texts) {
      if (Find(text) == Size()) Add(text, type);
    }
  }

  void NameQwenTokens() {
    const size_t count = std::size(kQwenAdded);
    if (Size() < kQwenAddedId + count) return;
    for (size_t i = 0; i < count; ++i) {
      tokens_[kQwenAddedId + i] = kQwenAdded[i];
      const bool control = tokens_[kQwenAddedId + i].starts_with("<|");
      types_[kQwenAddedId + i] = control ? LLAMA_TOKEN_TYPE_CONTROL : LLAMA_TOKEN_TYPE_USER_DEFINED;
    }
  }

  void Put(gguf_context* file) const {
    std::vector<const char*> texts;
    for (const std::string& token : tokens_) texts.push_back(token.c_str());
    gguf_set_arr_str(file, kTokensKey, texts.data(), texts.size());
    gguf_set_arr_data(file, kTypesKey, GGUF_TYPE_INT32, types_.data(), types_.size());
    if (!scores_.empty()) {
      gguf_set_arr_data(file, kScoresKey, GGUF_TYPE_FLOAT32, scores_.data(), scores_.size());
    }
  }

 private:
  std::vector<std::string> tokens_;
  std::vector<int32_t> types_;
  std::vector<float> scores_;  // empty where the tokenizer has none
};

void RemoveOtherKeys(gguf_context* file) {
  std::vector<std::string> others = {kTemplateKey};
  for (int64_t i = 0; i < gguf_get_n_kv(file); ++i) {
    const std::string key = gguf_get_key(file, i);
    if (!key.starts_with("tokenizer.")) others.push_back(key);
  }
  for (const std::string& key : others) gguf_remove_key(file, key.c_str());
}

}  // namespace

int64_t CopyVocabulary(const std::string& directory, const std::string& name, uint32_t size,
                       const ChatTemplate& chat_template, gguf_context* out) {
  const GgufFile file = Open(directory, name);
  TokenList tokens(file.get());
  if (name.starts_with("qwen")) tokens.NameQwenTokens();
  tokens.AddMissing(chat_template.control_tokens, LLAMA_TOKEN_TYPE_CONTROL);
  tokens.AddMissing(chat_template.plain_tokens, LLAMA_TOKEN_TYPE_USER_DEFINED);
  if (size > 0 && tokens.Size() > size) {
    throw std::runtime_error("Vocabulary " + name + " with its template's tokens has " +
                             std::to_string(tokens.Size()) + " tokens, the model room for " +
                             std::to_string(size) + "; use another --vocab or --template none");
  }
  while (tokens.Size() < size) {
    const std::string id = std::to_string(tokens.Size());
    tokens.Add(std::string("[PAD").append(id).append("]"), LLAMA_TOKEN_TYPE_UNUSED);
  }

  RemoveOtherKeys(file.get());
  tokens.Put(file.get());
  gguf_set_kv(out, file.get());
  if (!chat_template.text.empty()) {
    gguf_set_val_str(out, kTemplateKey, chat_template.text.c_str());
  }
  if (!chat_template.end_of_turn.empty()) {
    gguf_set_val_u32(out, "tokenizer.ggml.eos_token_id",
                     static_cast<uint32_t>(tokens.Find(chat_template.end_of_turn)));
  }
  return static_cast<int64_t>(tokens.Size());
}

}  // namespace oi
