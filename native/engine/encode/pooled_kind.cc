// Which of the three a file is: by the keys that llama.cpp's own conversion writes.

#include <array>
#include <string>
#include <vector>

#include "llama.h"
#include "model_labels.h"
#include "pooled_readout.h"

namespace oi {
namespace {

std::string Meta(const llama_model* model, const std::string& key) {
  std::array<char, 64> value{};
  const int32_t length = llama_model_meta_val_str(model, key.c_str(), value.data(), value.size());
  return length < 0 ? "" : value.data();
}

}  // namespace

std::optional<PooledReadout::Kind> PooledReadout::KindOf(const std::string& name,
                                                         const llama_model* model) {
  if (name == "rank@1") return Kind::kRank;
  if (name == "classes@1") return Kind::kClasses;
  if (name == "similarity@1") return Kind::kSimilarity;
  const std::string architecture = Meta(model, "general.architecture");
  // A readout of its own, or the format of a decision model, comes first.
  if (!name.empty() || !Meta(model, architecture + ".decision.type").empty()) return std::nullopt;
  const std::string pooling = Meta(model, architecture + ".pooling_type");
  if (pooling == "1" || pooling == "2" || pooling == "3") return Kind::kSimilarity;
  if (pooling != "4") return std::nullopt;
  const std::vector<std::string> labels = LabelsOf(model);
  if (labels.size() < 2) return Kind::kRank;
  // An encoder with these labels is a classifier, unless it has a template for pairs.
  const bool pairs =
      !IsEncoder(architecture) || llama_model_chat_template(model, "rerank") != nullptr;
  return pairs && YesOf(labels) ? Kind::kRank : Kind::kClasses;
}

}  // namespace oi
