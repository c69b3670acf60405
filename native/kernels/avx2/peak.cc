// What the registers alone can do: the yardstick of the benchmarks.

#include "peak.h"

#include <immintrin.h>

namespace oi::kernels::avx2 {
namespace {

constexpr int kSums = 12;
constexpr int kIterations = 200'000;

// Applies `add` to kSums independent registers again and again; returns the operations done.
template <class Add>
double Repeat(double operations_per_add, Add add) {
  __m256i sums[kSums];
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) sums[i] = _mm256_set1_epi32(i);
  __m256i operand = _mm256_setzero_si256();
  for (int n = 0; n < kIterations; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) {
      // Keeps every product to be computed, and every register's value in use.
      asm volatile("" : "+x"(operand));
      sums[i] = add(sums[i], operand);
      asm volatile("" : "+x"(sums[i]));
    }
  }
  return operations_per_add * kSums * kIterations;
}

}  // namespace

double PeakInt8() {
  return Repeat(64, [](__m256i sum, __m256i operand) {
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(operand, operand));
  });
}

#ifdef __AVXVNNI__
double PeakInt8Vnni() {
  return Repeat(64, [](__m256i sum, __m256i operand) {
    return _mm256_dpbusd_avx_epi32(sum, operand, operand);
  });
}
#endif

double PeakFloat() {
  return Repeat(16, [](__m256i sum, __m256i operand) {
    const __m256 x = _mm256_castsi256_ps(operand);
    return _mm256_castps_si256(_mm256_fmadd_ps(x, x, _mm256_castsi256_ps(sum)));
  });
}

}  // namespace oi::kernels::avx2
