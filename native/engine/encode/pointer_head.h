// The head of `pointer@1`: how much the pass' last token points to an option's last one.

#pragma once

#include <cstddef>
#include <vector>

#include "head.h"

namespace oi {

class GgufFile;

class PointerHead final : public Head {
 public:
  // `width` of the hidden states. Throws EngineError ERR_MODEL_UNSUPPORTED naming the key that is
  // not as it must be.
  PointerHead(const GgufFile& file, size_t width);

  float Logit(const Summaries& summaries) const override;

 private:
  const size_t width_;
  std::vector<float> query_bias_;
  std::vector<float> query_weight_;
  std::vector<float> key_weight_;
  std::vector<float> key_bias_;
  float scale_;
};

}  // namespace oi
