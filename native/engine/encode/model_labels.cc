#include "model_labels.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "llama.h"

namespace oi {

std::vector<std::string> LabelsOf(const llama_model* model) {
  std::vector<std::string> labels;
  for (uint32_t i = 0; i < llama_model_n_cls_out(model); ++i) {
    const char* label = llama_model_cls_label(model, i);
    if (label == nullptr) return {};
    labels.emplace_back(label);
  }
  return labels;
}

std::optional<size_t> YesOf(const std::vector<std::string>& labels) {
  if (labels.size() != 2) return std::nullopt;
  const auto is = [](std::string label, const char* word) {
    std::transform(label.begin(), label.end(), label.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return label == word;
  };
  for (size_t yes = 0; yes < 2; ++yes) {
    if (is(labels[yes], "yes") && is(labels[1 - yes], "no")) return yes;
  }
  return std::nullopt;
}

std::string JsonOf(const std::vector<std::string>& labels) {
  std::string json = "[";
  for (const std::string& label : labels) {
    json += json.size() > 1 ? ",\"" : "\"";
    for (const char c : label) {
      if (c == '"' || c == '\\') {
        json += {'\\', c};
      } else if (static_cast<unsigned char>(c) < 0x20) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
        json += escape;
      } else {
        json += c;
      }
    }
    json += '"';
  }
  return json + "]";
}

}  // namespace oi
