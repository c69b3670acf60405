// Products of F16 weights, widened to floats in registers. Activations stay floats, which is more
// exact than stock llama.cpp's F16.

#include "kernels.h"
#include "product_float.h"

namespace oi::kernels::avx512 {
namespace {

struct WeightsF16 {
  static constexpr int kGroup = 12;
  static constexpr int64_t kValues = 1;
  static constexpr int64_t kTileStepBytes = 32;
  using Register = __m512;

  static Register Load(const uint8_t* step) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(step)));
  }
  static __m512 Add(__m512 sum, Register weights, __m512 column) {
    return _mm512_fmadd_ps(weights, column, sum);
  }
};

// Steps of a group of n columns lie as [k][n] floats.
void Convert(const float* const* columns, int64_t width, int64_t, int64_t begin, int64_t end,
             uint8_t* group_start) {
  auto* steps = reinterpret_cast<float*>(group_start);
  for (int64_t c = 0; c < width; ++c) {
    for (int64_t i = begin; i < end; ++i) steps[i * width + c] = columns[c][i];
  }
}

constexpr ProductKernel kKernel{WeightsF16::kGroup, FloatActivationBytes<WeightsF16>, Convert,
                                MultiplyFloat<WeightsF16>};

}  // namespace

const ProductKernel* F16Product() { return &kKernel; }

}  // namespace oi::kernels::avx512
