#include "hidden_readout.h"

#include <algorithm>
#include <optional>

#include "../gguf_file.h"
#include "head_numbers.h"
#include "llama.h"
#include "pointer_readout.h"
#include "pooled_readout.h"

namespace oi {
namespace {

constexpr char kReadoutKey[] = "oi.readout";
constexpr char kPointer[] = "pointer@1";

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
  if (const auto kind = PooledReadout::KindOf(name, model)) {
    return std::make_unique<const PooledReadout>(*kind, path, model);
  }
  if (name != kPointer) return nullptr;
  const GgufFile file(path);
  const std::string architecture = file.Text("general.architecture").value_or("");
  if (IsEncoder(architecture) || llama_model_has_encoder(model)) {
    RefuseKey(kReadoutKey, name + " is for decoders, as qwen3, not for " + architecture);
  }
  return std::make_unique<const PointerReadout>(file, model);
}

}  // namespace oi
