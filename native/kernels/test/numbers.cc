// Random numbers and weights of lab.h.

#include <cstring>

#include "lab.h"

namespace oi::kernels::test {

Floats RandomFloats(size_t count, float deviation, std::mt19937& random) {
  std::normal_distribution<float> normal(0, deviation);
  Floats values(count);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<uint8_t> Encode(ggml_type type, const Floats& values, int64_t k) {
  const auto rows = static_cast<int64_t>(values.size()) / k;
  std::vector<uint8_t> bytes(ggml_row_size(type, k) * static_cast<size_t>(rows));
  ggml_quantize_chunk(type, values.data(), bytes.data(), 0, rows, k, nullptr);
  return bytes;
}

Floats Decode(ggml_type type, const std::vector<uint8_t>& bytes) {
  const size_t count = bytes.size() / ggml_type_size(type) * ggml_blck_size(type);
  Floats values(count);
  ggml_get_type_traits(type)->to_float(bytes.data(), values.data(), static_cast<int64_t>(count));
  return values;
}

void MakeExtreme(ggml_type type, std::vector<uint8_t>& bytes, std::mt19937& random) {
  // Where the scales of a block are: before its quants, but for Q6_K.
  const size_t begin = type == GGML_TYPE_Q4_K || type == GGML_TYPE_Q5_K ? 16
                       : type == GGML_TYPE_Q6_K                         ? 0
                                                                        : 2;
  const size_t end = type == GGML_TYPE_Q6_K ? 192 : ggml_type_size(type);
  constexpr uint8_t kFills[] = {0x00, 0xFF, 0x80, 0x7F};
  for (size_t block = 0; block < bytes.size(); block += ggml_type_size(type)) {
    std::memset(bytes.data() + block + begin, kFills[random() % 4], end - begin);
  }
}

}  // namespace oi::kernels::test
