// Registers of AVX2, as ../simd/attention.h wants them.

#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <limits>

#include "transpose.h"

namespace oi::kernels::avx2 {

// Owner: a type of the source that uses it, which makes its functions that source's own.
template <class Owner>
struct Registers {
  using Vector = __m256;
  struct Halfs {
    __m256i low;
    __m256i high;
  };
  static constexpr int64_t kLanes = 8;
  static constexpr int64_t kMaxTiles = 8;
  static constexpr int kStripe = 4;

  static Vector Zero() { return _mm256_setzero_ps(); }
  static Vector Set(float x) { return _mm256_set1_ps(x); }
  static Vector Load(const float* at) { return _mm256_loadu_ps(at); }
  static void Store(float* at, Vector x) { _mm256_storeu_ps(at, x); }
  static Vector Add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector Subtract(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
  static Vector Multiply(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  static Vector MultiplyAdd(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  static Vector NegativeMultiplyAdd(Vector a, Vector b, Vector c) {
    return _mm256_fnmadd_ps(a, b, c);
  }
  static Vector Max(Vector a, Vector b) { return _mm256_max_ps(a, b); }
  static Vector Round(Vector x) {
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static Vector Reciprocal(Vector x) { return _mm256_div_ps(_mm256_set1_ps(1.0f), x); }
  // In two halves: 2^-152 itself is no float, and only the last product rounds.
  static Vector TimesPowerOf2(Vector a, Vector b) {
    const __m256i exponent = _mm256_cvtps_epi32(b);
    const __m256i half = _mm256_srai_epi32(exponent, 1);
    const __m256i other = _mm256_sub_epi32(exponent, half);
    return _mm256_mul_ps(_mm256_mul_ps(a, PowerOf2(half)), PowerOf2(other));
  }
  static Vector WhereHidden(Vector x, Vector a, Vector b) {
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, Hidden(), _CMP_EQ_OQ));
  }
  static Vector LoadF16(const uint8_t* at) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
  }
  static Vector LoadBF16(const uint8_t* at) {
    const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(values), 16));
  }
  static void StoreF16(uint8_t* at, Vector x) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm256_cvtps_ph(x, kNearest));
  }
  // Half of the last bit is added, and the last bit itself, so that ties go to even ones. A NaN
  // stays one.
  static void StoreBF16(uint8_t* at, Vector x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
    const __m256i high = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m256i whole = _mm256_blendv_epi8(high, _mm256_set1_epi32(0x7FC0), nan);
    // Packing repeats each half of a register.
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(whole, whole), 0x08);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm256_castsi256_si128(packed));
  }
  static void Transpose(const float* const* rows, float* to, int64_t to_stride) {
    Transpose8(rows, to, to_stride);
  }

  static Halfs NoHalfs() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
  static Halfs LoadHalfs(const uint8_t* at, uint32_t bits) {
    alignas(32) uint8_t edge[64];
    if (bits != 0xFFFFFFFFu) {
      // Behind the last there may be no memory.
      std::memset(edge, 0, sizeof(edge));
      std::memcpy(edge, at, static_cast<size_t>(__builtin_popcount(bits)) * 2);
      at = edge;
    }
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + 32))};
  }
  static uint32_t HiddenBits(const Halfs& x) {
    const __m256i hidden = _mm256_set1_epi16(static_cast<short>(0xFC00));
    const __m256i low = _mm256_cmpeq_epi16(x.low, hidden);
    const __m256i high = _mm256_cmpeq_epi16(x.high, hidden);
    // Packing interleaves the registers' halves.
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xD8);
    return static_cast<uint32_t>(_mm256_movemask_epi8(bytes));
  }
  static bool AnyBit(const Halfs& x) {
    const __m256i either = _mm256_or_si256(x.low, x.high);
    return _mm256_testz_si256(either, either) == 0;
  }
  static void StoreHalfs(const Halfs& halfs, uint32_t bits, float* to) {
    alignas(32) uint8_t values[64];
    _mm256_store_si256(reinterpret_cast<__m256i*>(values), halfs.low);
    _mm256_store_si256(reinterpret_cast<__m256i*>(values + 32), halfs.high);
    for (int i = 0; i < 32; i += 8) _mm256_storeu_ps(to + i, LoadF16(values + i * 2));
    for (int i = __builtin_popcount(bits); i < 32; ++i) to[i] = kHidden;
  }

 private:
  static constexpr float kHidden = -std::numeric_limits<float>::infinity();
  static Vector Hidden() { return _mm256_set1_ps(kHidden); }
  static Vector PowerOf2(__m256i n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
  }
};

}  // namespace oi::kernels::avx2
