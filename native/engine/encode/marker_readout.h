// `markers@1` and `pointer@1`: options stand in one pass, each behind a marker. Of `markers@1` the
// texts can be read alone, too, in passes before it.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alone.h"
#include "head.h"
#include "hidden_readout.h"

namespace oi {

class GgufFile;

class MarkerReadout final : public HiddenReadout {
 public:
  // `prefix` of its keys: "oi.markers." or "oi.pointer.". Throws as HiddenReadout::Read().
  MarkerReadout(const GgufFile& file, const llama_model* model, const std::string& prefix,
                std::unique_ptr<const Head> head);

  Token marker() const { return marker_; }
  // Of a template, and never of a caller's text.
  bool IsControl(Token token) const { return control_[static_cast<size_t>(token)]; }
  bool state_first() const { return state_first_; }
  bool parallel() const override { return parallel_; }
  size_t pass_options() const { return pass_options_; }  // 0: as many as fit
  // Nothing if no text is read alone.
  const std::optional<AloneTemplate>& alone() const { return alone_; }

  RequestPlan Plan(const TokenizedRequest& request, size_t limit,
                   TextVectors& known) const override;
  std::vector<PassToken> TokensOf(const TokenizedRequest& request,
                                  const PassPlan& pass) const override;
  bool Answer(const PassPlan& pass, const PassStates& states, Answering& task) const override;

 private:
  static bool Keep(const PassPlan& pass, const PassStates& states, Answering& task);

  const std::unique_ptr<const Head> head_;
  Token marker_ = 0;
  std::vector<bool> control_;
  bool state_first_ = false;
  bool parallel_ = false;
  size_t pass_options_ = 0;
  std::optional<AloneTemplate> alone_;
};

}  // namespace oi
