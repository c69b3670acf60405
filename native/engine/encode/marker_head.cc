#include "marker_head.h"

#include <cmath>
#include <iterator>

#include "../gguf_file.h"
#include "dot.h"
#include "head_numbers.h"

namespace oi {
namespace {

const std::string kPrefix = "oi.markers.head.";
constexpr const char* kNames[] = {"marker", "option", "state", "question", "first"};

float Gelu(float x) { return 0.5f * x * (1.0f + std::erf(x * 0.70710678f)); }

std::optional<Summary> FindSummary(const std::string& name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<Summary>(i);
  }
  return std::nullopt;
}

}  // namespace

MarkerHead::MarkerHead(const GgufFile& file, size_t width) : width_(width) {
  ReadCosine(file);
  ReadLayers(file);
  if (!cosine_scale_ && inputs_.empty())
    RefuseKey(kPrefix + "inputs", "expected these or cosine.scale");
}

void MarkerHead::ReadCosine(const GgufFile& file) {
  cosine_scale_ = file.Float(kPrefix + "cosine.scale");
  if (!cosine_scale_ || !file.Has(kPrefix + "cosine.weight")) return;
  const size_t count = file.Floats(kPrefix + "cosine.weight").value_or(std::vector<float>()).size();
  const size_t rows = count / width_;
  if (rows < 1 || rows > kMostUnits) {
    RefuseKey(kPrefix + "cosine.weight", "expected rows of " + std::to_string(width_) + " numbers");
  }
  cosine_weight_ = ReadNumbers(file, kPrefix + "cosine.weight", rows * width_);
}

void MarkerHead::ReadLayers(const GgufFile& file) {
  if (!file.Has(kPrefix + "inputs")) return;
  const auto names = file.Texts(kPrefix + "inputs");
  if (!names || names->empty() || names->size() > 32) {
    RefuseKey(kPrefix + "inputs", "expected an array of 1 to 32 strings");
  }
  for (const std::string& name : *names) inputs_.push_back(ParseInput(name));
  hidden_bias_ = ReadUnits(file, kPrefix + "hidden.bias");
  const size_t hidden = hidden_bias_.size();
  hidden_weight_ = ReadNumbers(file, kPrefix + "hidden.weight", hidden * inputs_.size() * width_);
  output_weight_ = ReadNumbers(file, kPrefix + "output.weight", hidden);
  output_bias_ = ReadNumber(file, kPrefix + "output.bias");
}

MarkerHead::Input MarkerHead::ParseInput(const std::string& text) {
  const auto two = [&](Input::Kind kind, const std::string& pair,
                       char between) -> std::optional<Input> {
    const size_t at = pair.find(between);
    if (at == std::string::npos) return std::nullopt;
    const auto first = FindSummary(pair.substr(0, at));
    const auto second = FindSummary(pair.substr(at + 1));
    if (!first || !second) return std::nullopt;
    return Input{kind, *first, *second};
  };
  if (const auto plain = FindSummary(text)) return {Input::Kind::kPlain, *plain, *plain};
  if (const auto product = two(Input::Kind::kProduct, text, '*')) return *product;
  if (text.size() > 2 && text.front() == '|' && text.back() == '|') {
    const auto distance = two(Input::Kind::kDistance, text.substr(1, text.size() - 2), '-');
    if (distance) return *distance;
  }
  RefuseKey(kPrefix + "inputs",
            "expected marker, option, state, question or "
            "first, as a*b or |a-b| too, got " +
                text);
}

float MarkerHead::Logit(const Summaries& summaries) const {
  float logit = 0;
  if (cosine_scale_) {
    logit += *cosine_scale_ * Cosine(summaries[Summary::kOption], summaries[Summary::kState]);
  }
  if (!inputs_.empty()) logit += Layers(summaries);
  return logit;
}

float MarkerHead::Cosine(const float* option, const float* state) const {
  const auto cosine = [](const float* a, const float* b, size_t count) {
    const float lengths = std::sqrt(Dot(a, a, count)) * std::sqrt(Dot(b, b, count));
    return lengths > 0 ? Dot(a, b, count) / lengths : 0.0f;
  };
  if (cosine_weight_.empty()) return cosine(option, state, width_);
  const size_t rows = cosine_weight_.size() / width_;
  std::vector<float> mapped(2 * rows);
  for (size_t row = 0; row < rows; ++row) {
    const float* weight = cosine_weight_.data() + row * width_;
    mapped[row] = Dot(weight, option, width_);
    mapped[rows + row] = Dot(weight, state, width_);
  }
  return cosine(mapped.data(), mapped.data() + rows, rows);
}

float MarkerHead::Layers(const Summaries& summaries) const {
  std::vector<float> x;
  x.reserve(inputs_.size() * width_);
  for (const Input& input : inputs_) {
    const float* a = summaries[input.first];
    const float* b = summaries[input.second];
    for (size_t i = 0; i < width_; ++i) {
      switch (input.kind) {
        case Input::Kind::kPlain:
          x.push_back(a[i]);
          break;
        case Input::Kind::kProduct:
          x.push_back(a[i] * b[i]);
          break;
        case Input::Kind::kDistance:
          x.push_back(std::fabs(a[i] - b[i]));
          break;
      }
    }
  }
  float logit = output_bias_;
  for (size_t unit = 0; unit < hidden_bias_.size(); ++unit) {
    const float sum =
        hidden_bias_[unit] + Dot(hidden_weight_.data() + unit * x.size(), x.data(), x.size());
    logit += output_weight_[unit] * Gelu(sum);
  }
  return logit;
}

}  // namespace oi
