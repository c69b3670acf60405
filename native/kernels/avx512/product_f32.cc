// Matmuls of F32 weights (../simd/product_f32.h) on AVX-512.

#include "../simd/product_f32.h"

#include "kernels.h"
#include "registers.h"

namespace oi::kernels::avx512 {
namespace {

struct Here;

struct ProductRegisters : Registers<Here> {
  static constexpr int kColumns = 6;
  static constexpr int kMostVectors = 2;

  static void AddTo(double* totals, Vector x) {
    const auto add = [](double* to, __m256 half) {
      _mm512_store_pd(to, _mm512_add_pd(_mm512_load_pd(to), _mm512_cvtps_pd(half)));
    };
    add(totals, _mm512_castps512_ps256(x));
    add(totals + 8, _mm512_extractf32x8_ps(x, 1));
  }
  static Vector Singles(const double* totals) {
    const __m256 low = _mm512_cvtpd_ps(_mm512_load_pd(totals));
    const __m256 high = _mm512_cvtpd_ps(_mm512_load_pd(totals + 8));
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
  }
};

}  // namespace

const ProductKernel* F32Product() { return &simd::kProductF32<ProductRegisters>; }

}  // namespace oi::kernels::avx512
