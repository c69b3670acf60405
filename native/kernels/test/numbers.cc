// Random numbers and weights of lab.h.

#include <bit>
#include <cstring>

#include "lab.h"

namespace oi::kernels::test {

bool HasOwnCode(ggml_type type) {
  switch (type) {
    case GGML_TYPE_Q8_0:
    case GGML_TYPE_Q4_0:
    case GGML_TYPE_Q4_K:
    case GGML_TYPE_Q5_K:
    case GGML_TYPE_Q6_K:
    case GGML_TYPE_F16:
    case GGML_TYPE_BF16:
    case GGML_TYPE_F32:
      return true;
    default:
      return false;
  }
}

int64_t RandomRows(std::mt19937& random) {
  const int64_t rows = 16 * (1 + static_cast<int64_t>(random() % 9));
  return random() % 2 == 0 ? rows : rows - 1 - static_cast<int64_t>(random() % 15);
}

Floats RandomFloats(size_t count, float deviation, std::mt19937& random) {
  std::normal_distribution<float> normal(0, deviation);
  Floats values(count);
  for (float& value : values) value = normal(random);
  return values;
}

namespace {

// Types that ggml encodes slowly, or not without statistics of a model.
bool HasCodebook(ggml_type type) {
  switch (type) {
    case GGML_TYPE_IQ1_S:
    case GGML_TYPE_IQ1_M:
    case GGML_TYPE_IQ2_XXS:
    case GGML_TYPE_IQ2_XS:
    case GGML_TYPE_IQ2_S:
    case GGML_TYPE_IQ3_XXS:
    case GGML_TYPE_IQ3_S:
      return true;
    default:
      return false;
  }
}

// Any bytes are weights; d alone is chosen.
void FillBlock(ggml_type type, uint8_t* block, std::mt19937& random) {
  for (size_t i = 0; i < ggml_type_size(type); ++i) block[i] = static_cast<uint8_t>(random());
  const ggml_fp16_t d = ggml_fp32_to_fp16(0.001f * static_cast<float>(1 + random() % 7));
  if (type != GGML_TYPE_IQ1_M) {
    std::memcpy(block, &d, 2);
    return;
  }
  // In the top bits of each of the last 4 numbers.
  for (int i = 0; i < 4; ++i) {
    uint8_t& top = block[48 + i * 2 + 1];
    top = static_cast<uint8_t>((top & 0x0F) | (d >> i * 4 & 15) << 4);
  }
}

}  // namespace

std::vector<uint8_t> Encode(ggml_type type, const Floats& values, int64_t k) {
  const auto rows = static_cast<int64_t>(values.size()) / k;
  std::vector<uint8_t> bytes(ggml_row_size(type, k) * static_cast<size_t>(rows));
  if (HasCodebook(type)) {
    std::mt19937 random(std::bit_cast<uint32_t>(values[0]));
    for (size_t at = 0; at < bytes.size(); at += ggml_type_size(type)) {
      FillBlock(type, bytes.data() + at, random);
    }
    return bytes;
  }
  ggml_quantize_chunk(type, values.data(), bytes.data(), 0, rows, k, nullptr);
  return bytes;
}

Floats Decode(ggml_type type, const std::vector<uint8_t>& bytes) {
  const size_t count = bytes.size() / ggml_type_size(type) * ggml_blck_size(type);
  Floats values(count);
  if (type == GGML_TYPE_F32) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  ggml_get_type_traits(type)->to_float(bytes.data(), values.data(), static_cast<int64_t>(count));
  return values;
}

namespace {

struct Range {
  size_t begin;
  size_t end;
};

// Where a block has quants; with codebooks, also scales.
Range QuantsOf(ggml_type type) {
  switch (type) {
    case GGML_TYPE_MXFP4:
      return {1, 17};
    case GGML_TYPE_Q4_1:
    case GGML_TYPE_Q5_1:
    case GGML_TYPE_NVFP4:
      return {4, ggml_type_size(type)};
    case GGML_TYPE_Q2_K:
      return {16, 80};
    case GGML_TYPE_Q3_K:
      return {0, 96};
    case GGML_TYPE_Q4_K:
    case GGML_TYPE_Q5_K:
      return {16, ggml_type_size(type)};
    case GGML_TYPE_Q6_K:
      return {0, 192};
    case GGML_TYPE_TQ2_0:
      return {0, 64};
    case GGML_TYPE_IQ1_M:
      return {0, 48};
    case GGML_TYPE_IQ4_XS:
      return {8, 136};
    default:
      return {2, ggml_type_size(type)};
  }
}

}  // namespace

void MakeExtreme(ggml_type type, std::vector<uint8_t>& bytes, std::mt19937& random) {
  const auto [begin, end] = QuantsOf(type);
  constexpr uint8_t kFills[] = {0x00, 0xFF, 0x80, 0x7F};
  for (size_t block = 0; block < bytes.size(); block += ggml_type_size(type)) {
    std::memset(bytes.data() + block + begin, kFills[random() % 4], end - begin);
  }
}

}  // namespace oi::kernels::test
