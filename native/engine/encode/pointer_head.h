// The head of `pointer@1`: how much the pass' last token points to an option's last one.

#pragma once

#include <cstddef>
#include <vector>

namespace oi {

class GgufFile;

class PointerHead {
 public:
  // `width` of the hidden states. Throws EngineError ERR_MODEL_UNSUPPORTED naming the key that is
  // not as it must be.
  PointerHead(const GgufFile& file, size_t width);

  // Of two tokens' states. Single precision, in an order that depends on nothing else.
  float Logit(const float* last, const float* end) const;

 private:
  const size_t width_;
  std::vector<float> query_bias_;
  std::vector<float> query_weight_;
  std::vector<float> key_weight_;
  std::vector<float> key_bias_;
  float scale_;
};

}  // namespace oi
