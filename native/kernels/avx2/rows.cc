// Rows (../simd/rows.h) on AVX2.

#include "../simd/rows.h"

#include "kernels.h"
#include "registers.h"

namespace oi::kernels::avx2 {
namespace {

struct Here;

struct RowRegisters : Registers<Here> {
  struct Doubles {
    __m256d low;
    __m256d high;
  };

  static Doubles NoDoubles() { return {_mm256_setzero_pd(), _mm256_setzero_pd()}; }
  static Doubles AddSquares(const Doubles& sums, Vector x) {
    const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    const __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
    return {_mm256_fmadd_pd(low, low, sums.low), _mm256_fmadd_pd(high, high, sums.high)};
  }
  static double Sum(const Doubles& a, const Doubles& b) {
    const __m256d four = _mm256_add_pd(_mm256_add_pd(a.low, a.high), _mm256_add_pd(b.low, b.high));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
  static float SquareRoot(float x) { return _mm_cvtss_f32(_mm_sqrt_ps(_mm_set1_ps(x))); }
  static Vector SwapNeighbours(Vector x) { return _mm256_permute_ps(x, 0xB1); }
};

}  // namespace

const RowKernel* Rows() { return &simd::kRows<RowRegisters>; }

}  // namespace oi::kernels::avx2
