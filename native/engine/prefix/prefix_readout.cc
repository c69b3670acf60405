#include "prefix_readout.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "../encode/dot.h"
#include "../encode/gelu.h"
#include "../encode/head_numbers.h"
#include "../encode/marker_token.h"
#include "../error.h"
#include "../gguf_file.h"
#include "llama.h"

namespace oi {
namespace {

constexpr char kName[] = "prefix@1";
constexpr char kArchitecture[] = "bert";
constexpr char kTypesKey[] = "oi.prefix.token_types";
constexpr char kLevelsKey[] = "oi.prefix.levels";
constexpr char kHiddenWeight[] = "oi.prefix.head.hidden.weight";
constexpr char kHiddenBias[] = "oi.prefix.head.hidden.bias";
constexpr char kOutputWeight[] = "oi.prefix.head.output.weight";
constexpr char kOutputBias[] = "oi.prefix.head.output.bias";

}  // namespace

std::unique_ptr<const PrefixReadout> PrefixReadout::Read(const std::string& name,
                                                         const std::string& path,
                                                         const llama_model* model) {
  if (name != kName) return nullptr;
  const GgufFile file(path);
  const std::string architecture = file.Text("general.architecture").value_or("");
  if (architecture != kArchitecture) {
    RefuseKey("oi.readout",
              name + " is for encoders of the architecture bert, not for " + architecture);
  }
  const llama_vocab* vocab = llama_model_get_vocab(model);
  std::unique_ptr<PrefixReadout> readout(new PrefixReadout);
  readout->width_ = static_cast<size_t>(llama_model_n_embd_out(model));
  readout->positions_ = static_cast<size_t>(std::max(0, llama_model_n_ctx_train(model)));
  for (const char* text : {"[CLS]", "[SEP]"}) FindMarker("tokenizer.ggml.tokens", text, vocab);
  readout->marker_ = FindMarker("tokenizer.ggml.tokens", "[MASK]", vocab);

  if (file.Has(kTypesKey)) {
    const std::optional<std::vector<uint32_t>> types = file.Unsigneds(kTypesKey);
    if (!types || types->size() != readout->types_.size()) {
      RefuseKey(kTypesKey, "expected an array of 3 uint32");
    }
    const uint32_t known = file.Unsigned("tokenizer.ggml.token_type_count").value_or(1);
    for (size_t i = 0; i < types->size(); ++i) {
      if ((*types)[i] >= known) {
        RefuseKey(kTypesKey, "expected numbers below " + std::to_string(known) + ", got " +
                                 std::to_string((*types)[i]));
      }
      readout->types_[i] = static_cast<int32_t>((*types)[i]);
    }
  }
  const std::string levels = file.Text(kLevelsKey).value_or("together");
  readout->together_ = levels == "together";
  if (!readout->together_ && levels != "apart") {
    RefuseKey(kLevelsKey, "expected together or apart, got " + levels);
  }
  size_t inputs = readout->width_;
  if (file.Has(kHiddenBias)) {
    readout->hidden_bias_ = ReadUnits(file, kHiddenBias);
    const size_t units = readout->hidden_bias_.size();
    readout->hidden_weight_ = ReadNumbers(file, kHiddenWeight, units * inputs);
    inputs = units;
  }
  readout->output_weight_ = ReadNumbers(file, kOutputWeight, kPrefixKinds * inputs);
  readout->output_bias_ = ReadNumbers(file, kOutputBias, kPrefixKinds);
  return readout;
}

std::vector<QuestionPart> PrefixReadout::Parts(const TokenizedQuestion& question) const {
  const std::vector<Token>& tokens = question.tokens;
  const auto refuse = [](const std::string& what) {
    throw EngineError("ERR_INVALID_ARGUMENT", what);
  };
  if (tokens.empty() || tokens.front() == marker_) refuse("a question has no tokens of its own");
  const auto kind = static_cast<size_t>(question.candidates.front());
  if (kind >= kPrefixKinds ||
      std::any_of(question.candidates.begin(), question.candidates.end(),
                  [&](Token other) { return other != question.candidates.front(); })) {
    refuse("a question's candidates are not all 0 (yes or no), 1 (options) or 2 (levels)");
  }
  std::vector<QuestionPart> parts;
  size_t markers = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool marker = tokens[i] == marker_;
    const bool joins = static_cast<PrefixKind>(kind) == PrefixKind::kLevel && together_;
    if (i == 0 || (marker && !(joins && markers > 0))) parts.push_back({i, i, {}});
    if (marker) {
      parts.back().read.push_back(i);
      ++markers;
    }
    parts.back().end = i + 1;
  }
  if (static_cast<PrefixKind>(kind) == PrefixKind::kNoul) {
    if (markers > 0 || question.candidates.size() != 2) {
      refuse("a question for yes or no has 2 candidates and no markers");
    }
    parts.front().read = {0};
  } else if (markers != question.candidates.size()) {
    refuse("a question of " + std::to_string(question.candidates.size()) + " options has " +
           std::to_string(markers) + " markers");
  }
  return parts;
}

float PrefixReadout::Logit(PrefixKind kind, const float* state) const {
  const auto row = static_cast<size_t>(kind);
  if (hidden_bias_.empty()) {
    return Dot(output_weight_.data() + row * width_, state, width_) + output_bias_[row];
  }
  const size_t units = hidden_bias_.size();
  std::vector<float> hidden(units);
  for (size_t i = 0; i < units; ++i) {
    hidden[i] = GeluByErf(Dot(hidden_weight_.data() + i * width_, state, width_) + hidden_bias_[i]);
  }
  return Dot(output_weight_.data() + row * units, hidden.data(), units) + output_bias_[row];
}

}  // namespace oi
