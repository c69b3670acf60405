#include "marker_head.h"

#include <cmath>
#include <iterator>

#include "../gguf_file.h"
#include "dot.h"
#include "gelu.h"
#include "head_numbers.h"

namespace oi {
namespace {

const std::string kPrefix = "oi.markers.head.";

struct Name {
  const char* text;
  Summary summary;
  bool alone;  // of a text that is read alone
};
constexpr Name kNames[] = {
    {"marker", Summary::kMarker, false},         {"option", Summary::kOption, false},
    {"state", Summary::kState, false},           {"question", Summary::kQuestion, false},
    {"first", Summary::kFirst, false},           {"alone.option", Summary::kAloneOption, true},
    {"alone.state", Summary::kAloneState, true}, {"alone.question", Summary::kAloneQuestion, true},
};

// 0 if one of them is zero.
float Cosine(const float* a, const float* b, size_t count) {
  const float lengths = std::sqrt(Dot(a, a, count)) * std::sqrt(Dot(b, b, count));
  return lengths > 0 ? Dot(a, b, count) / lengths : 0.0f;
}

// The text between, if there is any.
std::optional<std::string> Between(const std::string& text, const std::string& before,
                                   const std::string& after) {
  const size_t around = before.size() + after.size();
  if (text.size() <= around || text.rfind(before, 0) != 0) return std::nullopt;
  const size_t end = text.size() - after.size();
  if (text.compare(end, after.size(), after) != 0) return std::nullopt;
  return text.substr(before.size(), end - before.size());
}

}  // namespace

MarkerHead::MarkerHead(const GgufFile& file, size_t width, bool alone)
    : width_(width), alone_(alone) {
  ReadCosine(file);
  ReadQuestionGate(file);
  ReadLayers(file);
  if (!cosine_scale_ && inputs_.empty())
    RefuseKey(kPrefix + "inputs", "expected these or cosine.scale");
}

void MarkerHead::ReadCosine(const GgufFile& file) {
  cosine_scale_ = file.Float(kPrefix + "cosine.scale");
  if (!cosine_scale_) return;
  cosine_alone_ = file.Bool(kPrefix + "cosine.alone").value_or(false);
  if (cosine_alone_ && !alone_) {
    RefuseKey(kPrefix + "cosine.alone", "expected oi.markers.alone beside it");
  }
  if (file.Has(kPrefix + "cosine.gate")) {
    cosine_gate_ = ReadNumbers(file, kPrefix + "cosine.gate", width_);
  }
  if (!file.Has(kPrefix + "cosine.weight")) return;
  const size_t count = file.Floats(kPrefix + "cosine.weight").value_or(std::vector<float>()).size();
  const size_t rows = count / width_;
  if (rows < 1 || rows > kMostUnits) {
    RefuseKey(kPrefix + "cosine.weight", "expected rows of " + std::to_string(width_) + " numbers");
  }
  cosine_weight_ = ReadNumbers(file, kPrefix + "cosine.weight", rows * width_);
}

void MarkerHead::ReadQuestionGate(const GgufFile& file) {
  if (!file.Has(kPrefix + "question.gate")) return;
  if (!alone_) RefuseKey(kPrefix + "question.gate", "expected oi.markers.alone beside it");
  question_gate_ = ReadNumbers(file, kPrefix + "question.gate", width_);
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
  hidden_weight_ = ReadNumbers(file, kPrefix + "hidden.weight", hidden * InputNumbers());
  output_weight_ = ReadNumbers(file, kPrefix + "output.weight", hidden);
  output_bias_ = ReadNumber(file, kPrefix + "output.bias");
}

std::optional<Summary> MarkerHead::FindSummary(const std::string& name) const {
  for (const Name& known : kNames) {
    if (name == known.text && (alone_ || !known.alone)) return known.summary;
  }
  return std::nullopt;
}

MarkerHead::Input MarkerHead::ParseInput(const std::string& text) const {
  using Kind = Input::Kind;
  const auto two = [&](Kind kind, const std::optional<std::string>& pair,
                       char between) -> std::optional<Input> {
    const size_t at = pair ? pair->find(between) : std::string::npos;
    if (at == std::string::npos) return std::nullopt;
    const auto first = FindSummary(pair->substr(0, at));
    const auto second = FindSummary(pair->substr(at + 1));
    if (!first || !second) return std::nullopt;
    return Input{kind, *first, *second};
  };
  if (const auto plain = FindSummary(text)) return {Kind::kPlain, *plain, *plain};
  if (const auto product = two(Kind::kProduct, text, '*')) return *product;
  if (const auto distance = two(Kind::kDistance, Between(text, "|", "|"), '-')) return *distance;
  if (const auto cosine = two(Kind::kCosine, Between(text, "cos(", ")"), ',')) return *cosine;
  RefuseKey(kPrefix + "inputs",
            std::string("expected marker, option, state, question or first") +
                (alone_ ? ", or alone.option, alone.state or alone.question" : "") +
                ", as a*b, |a-b| or cos(a,b) too, got " + text);
}

size_t MarkerHead::InputNumbers() const {
  size_t numbers = 0;
  for (const Input& input : inputs_) numbers += input.kind == Input::Kind::kCosine ? 1 : width_;
  return numbers;
}

float MarkerHead::Logit(const Summaries& summaries) const {
  float logit = 0;
  if (cosine_scale_) logit += CosineTerm(summaries);
  if (!question_gate_.empty()) logit += QuestionTerm(summaries);
  if (!inputs_.empty()) logit += Layers(summaries);
  return logit;
}

float MarkerHead::CosineTerm(const Summaries& summaries) const {
  const float* option = summaries[cosine_alone_ ? Summary::kAloneOption : Summary::kOption];
  const float* state = summaries[cosine_alone_ ? Summary::kAloneState : Summary::kState];
  float scale = *cosine_scale_;
  if (!cosine_gate_.empty()) scale += Dot(cosine_gate_.data(), summaries[Summary::kMarker], width_);
  if (cosine_weight_.empty()) return scale * Cosine(option, state, width_);
  const size_t rows = cosine_weight_.size() / width_;
  std::vector<float> mapped(2 * rows);
  for (size_t row = 0; row < rows; ++row) {
    const float* weight = cosine_weight_.data() + row * width_;
    mapped[row] = Dot(weight, option, width_);
    mapped[rows + row] = Dot(weight, state, width_);
  }
  return scale * Cosine(mapped.data(), mapped.data() + rows, rows);
}

float MarkerHead::QuestionTerm(const Summaries& summaries) const {
  const float* question = summaries[Summary::kAloneQuestion];
  const float* state = summaries[Summary::kAloneState];
  return Dot(question_gate_.data(), summaries[Summary::kMarker], width_) *
         Cosine(question, state, width_);
}

float MarkerHead::Layers(const Summaries& summaries) const {
  std::vector<float> x;
  x.reserve(inputs_.size() * width_);
  for (const Input& input : inputs_) {
    const float* a = summaries[input.first];
    const float* b = summaries[input.second];
    if (input.kind == Input::Kind::kCosine) {
      x.push_back(Cosine(a, b, width_));
      continue;
    }
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
        case Input::Kind::kCosine:
          break;
      }
    }
  }
  float logit = output_bias_;
  for (size_t unit = 0; unit < hidden_bias_.size(); ++unit) {
    const float sum =
        hidden_bias_[unit] + Dot(hidden_weight_.data() + unit * x.size(), x.data(), x.size());
    logit += output_weight_[unit] * GeluByErf(sum);
  }
  return logit;
}

}  // namespace oi
