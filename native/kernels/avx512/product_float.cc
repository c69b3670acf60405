// Products of F16 and BF16 weights, widened to floats in registers. Activations stay floats, which
// is more exact than stock llama.cpp's.

#include "../simd/float_columns.h"
#include "float_sums.h"
#include "kernels.h"

namespace oi::kernels::avx512 {
namespace {

struct Floats {
  static constexpr int kGroup = 12;
  static constexpr int64_t kValues = 1;
  using Register = __m512;

  static __m512 Add(__m512 sum, Register weights, __m512 column) {
    return _mm512_fmadd_ps(weights, column, sum);
  }
};

struct WeightsF16 : Floats {
  static constexpr int kParts = 1;
  static constexpr int64_t kTileStepBytes = 32;

  template <int>
  static Register Load(const uint8_t* step) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(step)));
  }
};

struct WeightsBF16 : Floats {
  static constexpr int kParts = 2;
  static constexpr int64_t kTileStepBytes = 64;

  template <int kPart>
  static Register Load(const uint8_t* step) {
    const __m512i pairs = _mm512_loadu_si512(step);
    return _mm512_castsi512_ps(
        kPart == 0 ? _mm512_slli_epi32(pairs, 16)
                   : _mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xFFFF0000))));
  }
};

template <class W>
constexpr ProductKernel kKernel{W::kGroup, FloatActivationBytes<W>, simd::ConvertFloatColumns,
                                MultiplyFloat<W>};

}  // namespace

const ProductKernel* FloatProduct(Format format) {
  if (format == Format::kF16) return &kKernel<WeightsF16>;
  if (format == Format::kBF16) return &kKernel<WeightsBF16>;
  return format == Format::kF32 ? F32Product() : nullptr;
}

}  // namespace oi::kernels::avx512
