// How a model of `markers@1` is asked, from its metadata: src/prompt/hidden/README.md.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../types.h"
#include "marker_head.h"

struct llama_model;

namespace oi {

// By llama.cpp's name of the architecture.
bool IsEncoder(std::string_view architecture);

class MarkerReadout {
 public:
  // Null if the file says nothing of `markers@1`. Throws EngineError ERR_MODEL_UNSUPPORTED naming
  // the key that is not as it must be.
  static std::unique_ptr<const MarkerReadout> Read(const std::string& path,
                                                   const llama_model* model);

  MarkerReadout(const class GgufFile& file, const llama_model* model);

  const MarkerHead& head() const { return head_; }
  Token marker() const { return marker_; }
  // Of a template, and never of a caller's text.
  bool IsControl(Token token) const { return control_[static_cast<size_t>(token)]; }
  bool state_first() const { return state_first_; }
  bool parallel() const { return parallel_; }
  size_t pass_options() const { return pass_options_; }  // 0: as many as fit
  size_t positions() const { return positions_; }        // that the model has

 private:
  const MarkerHead head_;
  Token marker_ = 0;
  std::vector<bool> control_;
  bool state_first_ = false;
  bool parallel_ = false;
  size_t pass_options_ = 0;
  size_t positions_ = 0;
};

}  // namespace oi
