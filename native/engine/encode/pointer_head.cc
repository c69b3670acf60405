#include "pointer_head.h"

#include <string>

#include "../gguf_file.h"
#include "dot.h"
#include "head_numbers.h"

namespace oi {
namespace {

const std::string kPrefix = "oi.pointer.head.";

}  // namespace

PointerHead::PointerHead(const GgufFile& file, size_t width)
    : width_(width),
      query_bias_(ReadUnits(file, kPrefix + "query.bias")),
      query_weight_(ReadNumbers(file, kPrefix + "query.weight", query_bias_.size() * width)),
      key_weight_(ReadNumbers(file, kPrefix + "key.weight", query_bias_.size() * width)),
      key_bias_(ReadNumbers(file, kPrefix + "key.bias", query_bias_.size())),
      scale_(ReadNumber(file, kPrefix + "scale")) {}

float PointerHead::Logit(const float* last, const float* end) const {
  float sum = 0;
  for (size_t unit = 0; unit < query_bias_.size(); ++unit) {
    const size_t row = unit * width_;
    const float query = Dot(query_weight_.data() + row, last, width_) + query_bias_[unit];
    const float key = Dot(key_weight_.data() + row, end, width_) + key_bias_[unit];
    sum += query * key;
  }
  return scale_ * sum;
}

}  // namespace oi
