// Products of BF16 weights: `vdpbf16ps`, two values of each row and column at once. Activations are
// rounded to BF16, as stock llama.cpp rounds them.

#include "kernels.h"
#include "product_float.h"

namespace oi::kernels::avx512 {
namespace {

struct WeightsBF16 {
  static constexpr int kGroup = 12;
  static constexpr int64_t kValues = 2;
  static constexpr int64_t kTileStepBytes = 64;
  using Register = __m512i;

  static Register Load(const uint8_t* step) { return _mm512_loadu_si512(step); }
  static __m512 Add(__m512 sum, Register weights, __m512 column) {
    return _mm512_dpbf16_ps(sum, (__m512bh)weights, (__m512bh)column);
  }
};

// Steps of a group of n columns lie as [k/2][n] pairs.
void Convert(const float* const* columns, int64_t width, int64_t, int64_t begin, int64_t end,
             uint8_t* group_start) {
  auto* steps = reinterpret_cast<int32_t*>(group_start);
  for (int64_t c = 0; c < width; ++c) {
    for (int64_t i = begin; i < end; i += 32) {
      const __m512 low = _mm512_loadu_ps(columns[c] + i);
      const __m512 high = _mm512_loadu_ps(columns[c] + i + 16);
      alignas(64) int32_t pairs[16];
      _mm512_store_si512(pairs, (__m512i)_mm512_cvtne2ps_pbh(high, low));
      for (int64_t s = 0; s < 16; ++s) steps[(i / 2 + s) * width + c] = pairs[s];
    }
  }
}

constexpr ProductKernel kKernel{WeightsBF16::kGroup, FloatActivationBytes<WeightsBF16>, Convert,
                                MultiplyFloat<WeightsBF16>};

}  // namespace

const ProductKernel* Bf16Product() { return &kKernel; }

}  // namespace oi::kernels::avx512
