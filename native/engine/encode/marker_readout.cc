#include "marker_readout.h"

#include <algorithm>

#include "../error.h"
#include "../gguf_file.h"
#include "llama.h"

namespace oi {
namespace {

constexpr char kReadoutKey[] = "oi.readout";
constexpr char kMarkers[] = "markers@1";
constexpr char kTemplateKey[] = "oi.markers.template";
constexpr char kMarkerKey[] = "oi.markers.marker";
constexpr char kPositionsKey[] = "oi.markers.positions";
constexpr char kPassOptionsKey[] = "oi.markers.pass_options";
constexpr char kUnknownKey[] = "tokenizer.ggml.unknown_token_id";

[[noreturn]] void Refuse(const std::string& key, const std::string& what) {
  throw EngineError("ERR_MODEL_UNSUPPORTED", key + ": " + what);
}

bool StateFirst(const std::string& text) {
  const auto at = [&](const std::string& name) {
    const size_t first = text.find(name);
    if (first == std::string::npos || text.find(name, first + 1) != std::string::npos) {
      Refuse(kTemplateKey, "expected " + name + " once");
    }
    return first;
  };
  const size_t state = at("{state}");
  const auto [first, last] = std::minmax(at("{question}"), at("{options}"));
  if (state > first && state < last) Refuse(kTemplateKey, "expected {state} first or last");
  return state < first;
}

// The one control token that the text is.
Token FindMarker(const std::string& text, const llama_vocab* vocab) {
  Token token = 0;
  const int32_t count = llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()),
                                       &token, 1, /*add_special=*/false, /*parse_special=*/true);
  if (count != 1 || !(llama_vocab_get_attr(vocab, token) & LLAMA_TOKEN_ATTR_CONTROL)) {
    Refuse(kMarkerKey, "expected the text of one control token, got " + text);
  }
  return token;
}

// Those of llama.cpp that read in both directions and keep no cells.
constexpr std::string_view kEncoders[] = {"bert",         "modern-bert",    "nomic-bert",
                                          "neo-bert",     "nomic-bert-moe", "jina-bert-v2",
                                          "jina-bert-v3", "eurobert"};

}  // namespace

bool IsEncoder(std::string_view architecture) {
  return std::find(std::begin(kEncoders), std::end(kEncoders), architecture) != std::end(kEncoders);
}

std::unique_ptr<const MarkerReadout> MarkerReadout::Read(const std::string& path,
                                                         const llama_model* model) {
  const GgufFile file(path);
  if (file.Text(kReadoutKey) != kMarkers) return nullptr;
  const std::string architecture = file.Text("general.architecture").value_or("");
  if (!IsEncoder(architecture)) {
    Refuse(kReadoutKey,
           std::string(kMarkers) + " is for encoders, as bert, not for " + architecture);
  }
  return std::make_unique<const MarkerReadout>(file, model);
}

MarkerReadout::MarkerReadout(const GgufFile& file, const llama_model* model)
    : head_(file, static_cast<size_t>(llama_model_n_embd_out(model))) {
  const llama_vocab* vocab = llama_model_get_vocab(model);
  state_first_ = StateFirst(file.Text(kTemplateKey).value_or(""));
  marker_ = FindMarker(file.Text(kMarkerKey).value_or(""), vocab);
  const std::string positions = file.Text(kPositionsKey).value_or("sequential");
  parallel_ = positions == "parallel";
  if (!parallel_ && positions != "sequential") {
    Refuse(kPositionsKey, "expected sequential or parallel, got " + positions);
  }
  pass_options_ = file.Unsigned(kPassOptionsKey).value_or(0);
  positions_ = static_cast<size_t>(std::max(0, llama_model_n_ctx_train(model)));
  // A caller's text can be of unknown tokens, which many files list among those of control.
  const auto unknown = static_cast<Token>(file.Unsigned(kUnknownKey).value_or(UINT32_MAX));
  for (Token token = 0; token < llama_vocab_n_tokens(vocab); ++token) {
    const bool control = llama_vocab_get_attr(vocab, token) & LLAMA_TOKEN_ATTR_CONTROL;
    control_.push_back(control && token != unknown);
  }
}

}  // namespace oi
