// Matmuls of F32 weights (../simd/product_f32.h) on AVX2.

#include "../simd/product_f32.h"

#include "kernels.h"
#include "registers.h"

namespace oi::kernels::avx2 {
namespace {

struct Here;

struct ProductRegisters : Registers<Here> {
  static constexpr int kColumns = 3;
  static constexpr int kMostVectors = 2;

  static void AddTo(double* totals, Vector x) {
    const auto add = [](double* to, __m128 half) {
      _mm256_store_pd(to, _mm256_add_pd(_mm256_load_pd(to), _mm256_cvtps_pd(half)));
    };
    add(totals, _mm256_castps256_ps128(x));
    add(totals + 4, _mm256_extractf128_ps(x, 1));
  }
  static Vector Singles(const double* totals) {
    const __m128 low = _mm256_cvtpd_ps(_mm256_load_pd(totals));
    return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_load_pd(totals + 4)), low);
  }
};

}  // namespace

const ProductKernel* F32Product() { return &simd::kProductF32<ProductRegisters>; }

}  // namespace oi::kernels::avx2
