// What the registers alone can do: the yardstick of the benchmarks.

#include "peak.h"

#include <immintrin.h>

namespace oi::kernels::avx512 {
namespace {

constexpr int kSums = 16;
constexpr int kIterations = 200'000;

// Applies `add` to kSums independent registers again and again; returns the operations done.
template <class Add>
double Repeat(double operations_per_add, Add add) {
  __m512 sums[kSums];
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int n = 0; n < kIterations; ++n) {
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) {
      sums[i] = add(sums[i]);
      // Keeps every register's value in use.
      asm volatile("" : "+v"(sums[i]));
    }
  }
  return operations_per_add * kSums * kIterations;
}

}  // namespace

double PeakInt8() {
  const __m512i ones = _mm512_set1_epi8(1);
  return Repeat(128, [=](__m512 sum) {
    return _mm512_castsi512_ps(_mm512_dpbusd_epi32(_mm512_castps_si512(sum), ones, ones));
  });
}

double PeakBf16() {
  const auto zeros = (__m512bh)_mm512_setzero_si512();
  return Repeat(64, [=](__m512 sum) { return _mm512_dpbf16_ps(sum, zeros, zeros); });
}

double PeakFloat() {
  const __m512 zeros = _mm512_setzero_ps();
  return Repeat(32, [=](__m512 sum) { return _mm512_fmadd_ps(zeros, zeros, sum); });
}

}  // namespace oi::kernels::avx512
