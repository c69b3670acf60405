// Products of F16 weights, widened to floats in registers. Activations stay floats, which is more
// exact than stock llama.cpp's F16.

#include "../simd/float_columns.h"
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

constexpr ProductKernel kKernel{WeightsF16::kGroup, FloatActivationBytes<WeightsF16>,
                                simd::ConvertFloatColumns, MultiplyFloat<WeightsF16>};

}  // namespace

const ProductKernel* F16Product() { return &kKernel; }

}  // namespace oi::kernels::avx512
