// `rank@1`, `classes@1` and `similarity@1`: each pass has one vector, pooled from its hidden
// states, and the model's own head, or a cosine, tells the logits. No pass holds several options.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hidden_readout.h"
#include "pooled_head.h"
#include "pooling.h"

namespace oi {

class PooledReadout final : public HiddenReadout {
 public:
  // What is read in a pass, and how.
  //   kRank: state and question; one logit, that of yes against no where the model has both.
  //   kClasses: state and question, which is empty; candidates are labels, by their numbers.
  //   kSimilarity: the state alone, and each question alone; the scaled cosine of the two.
  enum class Kind { kRank, kClasses, kSimilarity };

  // The model's readout by its oi.readout, `name`, or by its pooling. Nothing if it has another.
  static std::optional<Kind> KindOf(const std::string& name, const llama_model* model);

  // Throws as HiddenReadout::Read().
  PooledReadout(Kind kind, const std::string& path, const llama_model* model);

  std::vector<std::pair<std::string, std::string>> Keys() const override { return keys_; }
  std::vector<PassPlan> Plan(const TokenizedRequest& request, size_t limit) const override;
  std::vector<Token> TokensOf(const TokenizedRequest& request, const PassPlan& pass) const override;
  bool Answer(const PassPlan& pass, const PassStates& states, Answering& task) const override;

 private:
  void ReadRank(const GgufFile& file, const llama_model* model);
  void ReadClasses(const GgufFile& file, const llama_model* model);
  void ReadHead(const GgufFile& file, const llama_model* model);
  void ReadSimilarity(const GgufFile& file, const llama_model* model);
  void CheckCandidates(const TokenizedQuestion& question) const;
  std::vector<float> Logits(const std::vector<float>& pooled, const Answering& task) const;

  const Kind kind_;
  const std::string architecture_;
  Pooling pooling_ = Pooling::kFirst;
  std::optional<PooledHead> head_;  // none of similarity
  size_t outputs_ = 1;
  size_t logits_ = 1;  // of a pass
  size_t yes_ = 0;     // the output that means yes, where a reranker has two
  bool state_first_ = true;
  float scale_ = 0;
  std::vector<std::pair<std::string, std::string>> keys_;
};

}  // namespace oi
