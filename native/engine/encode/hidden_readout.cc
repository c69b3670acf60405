#include "hidden_readout.h"

#include <algorithm>
#include <utility>

#include "../gguf_file.h"
#include "head_numbers.h"
#include "llama.h"
#include "marker_head.h"
#include "pointer_head.h"

namespace oi {
namespace {

constexpr char kReadoutKey[] = "oi.readout";
constexpr char kMarkers[] = "markers@1";
constexpr char kPointer[] = "pointer@1";
constexpr char kUnknownKey[] = "tokenizer.ggml.unknown_token_id";

bool StateFirst(const std::string& key, const std::string& text) {
  const auto at = [&](const std::string& name) {
    const size_t first = text.find(name);
    if (first == std::string::npos || text.find(name, first + 1) != std::string::npos) {
      RefuseKey(key, "expected " + name + " once");
    }
    return first;
  };
  const size_t state = at("{state}");
  const auto [first, last] = std::minmax({at("{question}"), at("{options}")});
  if (state > first && state < last) RefuseKey(key, "expected {state} first or last");
  return state < first;
}

// The one control token that the text consists of.
Token FindMarker(const std::string& key, const std::string& text, const llama_vocab* vocab) {
  Token token = 0;
  const int32_t count = llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()),
                                       &token, 1, /*add_special=*/false, /*parse_special=*/true);
  if (count != 1 || !(llama_vocab_get_attr(vocab, token) & LLAMA_TOKEN_ATTR_CONTROL)) {
    RefuseKey(key, "expected the text of one control token, got " + text);
  }
  return token;
}

// llama.cpp's architectures that attend in both directions and have no KV cache.
constexpr std::string_view kEncoders[] = {"bert",         "modern-bert",    "nomic-bert",
                                          "neo-bert",     "nomic-bert-moe", "jina-bert-v2",
                                          "jina-bert-v3", "eurobert"};

}  // namespace

bool IsEncoder(std::string_view architecture) {
  return std::find(std::begin(kEncoders), std::end(kEncoders), architecture) != std::end(kEncoders);
}

std::unique_ptr<const HiddenReadout> HiddenReadout::Read(const std::string& name,
                                                         const std::string& path,
                                                         const llama_model* model) {
  if (name != kMarkers && name != kPointer) return nullptr;
  const GgufFile file(path);
  const std::string architecture = file.Text("general.architecture").value_or("");
  const bool markers = name == kMarkers;
  if (IsEncoder(architecture) != markers || llama_model_has_encoder(model)) {
    RefuseKey(kReadoutKey, name + " is for " +
                               (markers ? "encoders, as bert" : "decoders, as qwen3") +
                               ", not for " + architecture);
  }
  const auto width = static_cast<size_t>(llama_model_n_embd_out(model));
  if (markers) {
    return std::make_unique<const HiddenReadout>(file, model, "oi.markers.",
                                                 std::make_unique<MarkerHead>(file, width));
  }
  return std::make_unique<const HiddenReadout>(file, model, "oi.pointer.",
                                               std::make_unique<PointerHead>(file, width));
}

HiddenReadout::HiddenReadout(const GgufFile& file, const llama_model* model,
                             const std::string& prefix, std::unique_ptr<const Head> head)
    : head_(std::move(head)) {
  const llama_vocab* vocab = llama_model_get_vocab(model);
  const auto text = [&](const std::string& key) { return file.Text(key).value_or(""); };
  causal_ = !IsEncoder(text("general.architecture"));
  const std::string template_key = prefix + "template";
  state_first_ = StateFirst(template_key, text(template_key));
  const std::string marker_key = prefix + "marker";
  marker_ = FindMarker(marker_key, text(marker_key), vocab);
  const std::string positions_key = prefix + "positions";
  const std::string positions = file.Text(positions_key).value_or("sequential");
  parallel_ = positions == "parallel";
  if (causal_ && file.Has(positions_key)) RefuseKey(positions_key, "expected none");
  if (!parallel_ && positions != "sequential") {
    RefuseKey(positions_key, "expected sequential or parallel, got " + positions);
  }
  pass_options_ = file.Unsigned(prefix + "pass_options").value_or(0);
  positions_ = static_cast<size_t>(std::max(0, llama_model_n_ctx_train(model)));
  // Unknown tokens can come from a caller's text, though many files list them as control tokens.
  const auto unknown = static_cast<Token>(file.Unsigned(kUnknownKey).value_or(UINT32_MAX));
  for (Token token = 0; token < llama_vocab_n_tokens(vocab); ++token) {
    const bool control = llama_vocab_get_attr(vocab, token) & LLAMA_TOKEN_ATTR_CONTROL;
    control_.push_back(control && token != unknown);
  }
}

}  // namespace oi
