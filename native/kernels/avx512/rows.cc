// Rows (../simd/rows.h) on AVX-512.

#include "../simd/rows.h"

#include "kernels.h"
#include "registers.h"

namespace oi::kernels::avx512 {
namespace {

struct Here;

struct RowRegisters : Registers<Here> {
  struct Doubles {
    __m512d low;
    __m512d high;
  };

  static Doubles NoDoubles() { return {_mm512_setzero_pd(), _mm512_setzero_pd()}; }
  static Doubles AddSquares(const Doubles& sums, Vector x) {
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
    const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
    return {_mm512_fmadd_pd(low, low, sums.low), _mm512_fmadd_pd(high, high, sums.high)};
  }
  static double Sum(const Doubles& a, const Doubles& b) {
    return _mm512_reduce_add_pd(
        _mm512_add_pd(_mm512_add_pd(a.low, a.high), _mm512_add_pd(b.low, b.high)));
  }
  static float SquareRoot(float x) { return _mm_cvtss_f32(_mm_sqrt_ps(_mm_set1_ps(x))); }
  static Vector SwapNeighbours(Vector x) { return _mm512_permute_ps(x, 0xB1); }
};

}  // namespace

const RowKernel* Rows() { return &simd::kRows<RowRegisters>; }

}  // namespace oi::kernels::avx512
