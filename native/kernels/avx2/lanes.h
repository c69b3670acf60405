// Registers of 4 bytes for each of 8 rows, as ../simd/plain_weights.h wants them.

#pragma once

#include <immintrin.h>

#include <cstdint>

namespace oi::kernels::avx2 {
namespace {  // sources for other instructions have their own

struct Lanes {
  using Ints = __m256i;
  using Floats = __m256;

  static Ints Load(const uint8_t* at, int v) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + v * 32));
  }
  static Ints LoadBytes(const uint8_t* at, int v) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at + v * 8)));
  }
  static Floats LoadHalfs(const uint8_t* at, int v) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at + v * 16)));
  }
  static Ints Set(int x) { return _mm256_set1_epi32(x); }
  static Ints SetBytes(int x) { return _mm256_set1_epi8(static_cast<char>(x)); }
  static Floats SetFloat(float x) { return _mm256_set1_ps(x); }
  static Ints And(Ints a, Ints b) { return _mm256_and_si256(a, b); }
  static Ints Or(Ints a, Ints b) { return _mm256_or_si256(a, b); }
  static Ints Xor(Ints a, Ints b) { return _mm256_xor_si256(a, b); }
  static Ints Subtract(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
  static Ints MultiplyInts(Ints a, Ints b) { return _mm256_mullo_epi32(a, b); }
  static Ints Max(Ints a, Ints b) { return _mm256_max_epi32(a, b); }
  static Ints AddBytes(Ints a, Ints b) { return _mm256_add_epi8(a, b); }
  static Ints SubtractBytes(Ints a, Ints b) { return _mm256_sub_epi8(a, b); }
  static Ints Left(Ints x, int bits) { return _mm256_sll_epi32(x, _mm_cvtsi32_si128(bits)); }
  static Ints Right(Ints x, int bits) { return _mm256_srl_epi32(x, _mm_cvtsi32_si128(bits)); }
  static Ints ZeroWhere(Ints x, int value) {
    return _mm256_andnot_si256(_mm256_cmpeq_epi32(x, Set(value)), x);
  }
  static Ints Where(Ints condition, Ints a, Ints b) {
    return _mm256_blendv_epi8(a, b, _mm256_cmpeq_epi32(condition, _mm256_setzero_si256()));
  }
  // Of each byte below 16.
  static Ints Table(const uint8_t* table, Ints places) {
    const __m128i bytes = _mm_load_si128(reinterpret_cast<const __m128i*>(table));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), places);
  }
  // By the low four bits.
  static Ints Lookup(const uint32_t* table, Ints places) {
    const auto half = [&](int i) {
      return _mm256_permutevar8x32_epi32(
          _mm256_load_si256(reinterpret_cast<const __m256i*>(table + i * 8)), places);
    };
    const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(places, 28));
    return _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(half(0)), _mm256_castsi256_ps(half(1)), upper));
  }
  static Ints Gather(const void* table, Ints places) {
    return _mm256_i32gather_epi32(static_cast<const int*>(table), places, 4);
  }
  static Floats ToFloats(Ints x) { return _mm256_cvtepi32_ps(x); }
  static Floats AsFloats(Ints x) { return _mm256_castsi256_ps(x); }
  // The low halves, as half-precision numbers.
  static Floats HalfsOf(Ints x) {
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(x, x), 0x08);
    return _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
  }
  static Floats Multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats Negative(Floats x) { return _mm256_sub_ps(_mm256_setzero_ps(), x); }
};

}  // namespace
}  // namespace oi::kernels::avx2
