#include "pooled_head.h"

#include <cmath>

#include "dot.h"
#include "head_numbers.h"

namespace oi {
namespace {

constexpr char kModernBert[] = "modern-bert";
constexpr char kInner[] = "cls";
constexpr char kNorm[] = "cls.norm.weight";
constexpr char kOuter[] = "cls.output";

// ggml's approximation by tanh.
float Gelu(float x) {
  return 0.5f * x * (1.0f + std::tanh(0.79788456f * x * (1.0f + 0.044715f * x * x)));
}

}  // namespace

PooledHead::PooledHead(const GgufFile& file, const std::string& architecture, size_t width,
                       size_t outputs)
    : inner_(ReadLayer(file, kInner, width)),
      outer_(ReadLayer(file, kOuter, inner_ ? inner_->weight.rows : width)),
      gelu_(architecture == kModernBert) {
  if (!inner_ && !outer_) {
    RefuseKey(std::string(kOuter) + ".weight",
              "no such tensor: a reranker or classifier has a head of this name, or named " +
                  std::string(kInner) + ".weight");
  }
  if (const auto norm = file.Tensor(kNorm); inner_ && norm) {
    const std::string key = architecture + ".attention.layer_norm_epsilon";
    norm_ = norm->values;
    epsilon_ = ReadNumber(file, key);
    if (norm_.size() != inner_->weight.rows) {
      RefuseKey(kNorm, "expected " + std::to_string(inner_->weight.rows) + " numbers");
    }
  }
  const Layer& last = outer_ ? *outer_ : *inner_;
  if (last.weight.rows != outputs) {
    RefuseKey(std::string(outer_ ? kOuter : kInner) + ".weight",
              "expected " + std::to_string(outputs) + " rows, one for each label, got " +
                  std::to_string(last.weight.rows));
  }
}

std::optional<PooledHead::Layer> PooledHead::ReadLayer(const GgufFile& file,
                                                       const std::string& name, size_t width) {
  std::optional<Matrix> weight = file.Tensor(name + ".weight");
  if (!weight) return std::nullopt;
  if (weight->columns != width) {
    RefuseKey(name + ".weight", "expected rows of " + std::to_string(width) + " numbers");
  }
  Layer layer{std::move(*weight), {}};
  if (std::optional<Matrix> bias = file.Tensor(name + ".bias")) {
    layer.bias = std::move(bias->values);
    if (layer.bias.size() != layer.weight.rows) {
      RefuseKey(name + ".bias", "expected " + std::to_string(layer.weight.rows) + " numbers");
    }
  }
  return layer;
}

std::vector<float> PooledHead::Layer::Of(const std::vector<float>& x) const {
  std::vector<float> y(weight.rows);
  for (size_t row = 0; row < y.size(); ++row) {
    y[row] = Dot(weight.values.data() + row * weight.columns, x.data(), x.size());
    if (!bias.empty()) y[row] += bias[row];
  }
  return y;
}

void PooledHead::Normalize(std::vector<float>& x) const {
  const auto count = static_cast<float>(x.size());
  float sum = 0;
  for (const float value : x) sum += value;
  const float mean = sum / count;
  float squares = 0;
  for (float& value : x) {
    value -= mean;
    squares += value * value;
  }
  const float scale = 1.0f / std::sqrt(squares / count + epsilon_);
  for (size_t i = 0; i < x.size(); ++i) x[i] *= scale * norm_[i];
}

std::vector<float> PooledHead::Outputs(const std::vector<float>& pooled) const {
  if (!inner_) return outer_->Of(pooled);
  std::vector<float> x = inner_->Of(pooled);
  for (float& value : x) value = gelu_ ? Gelu(value) : std::tanh(value);
  if (!norm_.empty()) Normalize(x);
  return outer_ ? outer_->Of(x) : x;
}

}  // namespace oi
