// How a model is asked that answers by its hidden states, read from its metadata:
// src/prompt/hidden/README.md.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../types.h"
#include "head.h"

struct llama_model;

namespace oi {

// By llama.cpp's name of the architecture.
bool IsEncoder(std::string_view architecture);

class HiddenReadout {
 public:
  // Null if `name`, the model's oi.readout, is none of these. Throws EngineError
  // ERR_MODEL_UNSUPPORTED naming the key that is not as it must be.
  static std::unique_ptr<const HiddenReadout> Read(const std::string& name, const std::string& path,
                                                   const llama_model* model);

  // `prefix` of its keys: "oi.markers." or "oi.pointer.".
  HiddenReadout(const class GgufFile& file, const llama_model* model, const std::string& prefix,
                std::unique_ptr<const Head> head);

  const Head& head() const { return *head_; }
  // A decoder's: a token sees those before it alone.
  bool causal() const { return causal_; }
  Token marker() const { return marker_; }
  // Of a template, and never of a caller's text.
  bool IsControl(Token token) const { return control_[static_cast<size_t>(token)]; }
  bool state_first() const { return state_first_; }
  bool parallel() const { return parallel_; }
  size_t pass_options() const { return pass_options_; }  // 0: as many as fit
  size_t positions() const { return positions_; }        // that the model has

 private:
  const std::unique_ptr<const Head> head_;
  bool causal_ = false;
  Token marker_ = 0;
  std::vector<bool> control_;
  bool state_first_ = false;
  bool parallel_ = false;
  size_t pass_options_ = 0;
  size_t positions_ = 0;
};

}  // namespace oi
