#include "hidden_readout.h"

#include <algorithm>
#include <optional>

#include "../gguf_file.h"
#include "head_numbers.h"
#include "llama.h"
#include "marker_head.h"
#include "marker_readout.h"
#include "pointer_head.h"
#include "pooled_readout.h"

namespace oi {
namespace {

constexpr char kReadoutKey[] = "oi.readout";
constexpr char kMarkers[] = "markers@1";
constexpr char kPointer[] = "pointer@1";
constexpr char kAlone[] = "oi.markers.alone";

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
    return std::make_unique<const MarkerReadout>(
        file, model, "oi.markers.", std::make_unique<MarkerHead>(file, width, file.Has(kAlone)));
  }
  return std::make_unique<const MarkerReadout>(file, model, "oi.pointer.",
                                               std::make_unique<PointerHead>(file, width));
}

}  // namespace oi
