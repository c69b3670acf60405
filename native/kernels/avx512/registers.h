// Registers of AVX-512, as ../simd/attention.h wants them.

#pragma once

#include <immintrin.h>

#include <cstdint>
#include <limits>

#include "transpose.h"

namespace oi::kernels::avx512 {

// Owner: a type of the source that uses it, which makes its functions that source's own.
template <class Owner>
struct Registers {
  using Vector = __m512;
  using Halfs = __m512i;
  static constexpr int64_t kLanes = 16;
  static constexpr int64_t kMaxTiles = 4;
  static constexpr int kStripe = 8;

  static Vector Zero() { return _mm512_setzero_ps(); }
  static Vector Set(float x) { return _mm512_set1_ps(x); }
  static Vector Load(const float* at) { return _mm512_loadu_ps(at); }
  static void Store(float* at, Vector x) { _mm512_storeu_ps(at, x); }
  static Vector Add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector Subtract(Vector a, Vector b) { return _mm512_sub_ps(a, b); }
  static Vector Multiply(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
  static Vector MultiplyAdd(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  static Vector NegativeMultiplyAdd(Vector a, Vector b, Vector c) {
    return _mm512_fnmadd_ps(a, b, c);
  }
  static Vector Max(Vector a, Vector b) { return _mm512_max_ps(a, b); }
  static Vector Round(Vector x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT); }
  // A step of Newton's from 14 bits: a fraction of a division's time.
  static Vector Reciprocal(Vector x) {
    const Vector guess = _mm512_rcp14_ps(x);
    return _mm512_fmadd_ps(guess, _mm512_fnmadd_ps(guess, x, _mm512_set1_ps(1.0f)), guess);
  }
  static Vector TimesPowerOf2(Vector a, Vector b) { return _mm512_scalef_ps(a, b); }
  static Vector WhereHidden(Vector x, Vector a, Vector b) {
    return _mm512_mask_mov_ps(b, _mm512_cmp_ps_mask(x, Hidden(), _CMP_EQ_OQ), a);
  }
  static Vector LoadF16(const uint8_t* at) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
  }
  static Vector LoadBF16(const uint8_t* at) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(values), 16));
  }
  static void StoreF16(uint8_t* at, Vector x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm512_cvtps_ph(x, kNearest));
  }
  // Half of the last bit is added, and the last bit itself, so that ties go to even ones. A NaN
  // stays one.
  static void StoreBF16(uint8_t* at, Vector x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF));
    __m512i high = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    high = _mm512_mask_mov_epi32(high, nan, _mm512_set1_epi32(0x7FC0));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm512_cvtepi32_epi16(high));
  }
  static void Transpose(const float* const* rows, float* to, int64_t to_stride) {
    Transpose16(rows, to, to_stride);
  }

  static Halfs NoHalfs() { return _mm512_setzero_si512(); }
  static Halfs LoadHalfs(const uint8_t* at, uint32_t bits) {
    return _mm512_maskz_loadu_epi16(bits, at);
  }
  static uint32_t HiddenBits(Halfs x) {
    return _mm512_cmpeq_epi16_mask(x, _mm512_set1_epi16(static_cast<short>(0xFC00)));
  }
  static bool AnyBit(Halfs x) { return _mm512_test_epi16_mask(x, x) != 0; }
  static void StoreHalfs(Halfs halfs, uint32_t bits, float* to) {
    const __m512 low = _mm512_cvtph_ps(_mm512_castsi512_si256(halfs));
    const __m512 high = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(halfs, 1));
    _mm512_storeu_ps(to, _mm512_mask_mov_ps(Hidden(), static_cast<__mmask16>(bits), low));
    _mm512_storeu_ps(to + 16,
                     _mm512_mask_mov_ps(Hidden(), static_cast<__mmask16>(bits >> 16), high));
  }

 private:
  static constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  static Vector Hidden() { return _mm512_set1_ps(-std::numeric_limits<float>::infinity()); }
};

}  // namespace oi::kernels::avx512
