// Registers of 4 bytes for each of 16 rows, as ../simd/plain_weights.h wants them.

#pragma once

#include <immintrin.h>

#include <cstdint>

namespace oi::kernels::avx512 {

struct Lanes {
  using Ints = __m512i;
  using Floats = __m512;

  static Ints Load(const uint8_t* at, int) { return _mm512_loadu_si512(at); }
  static Ints LoadBytes(const uint8_t* at, int) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
  }
  static Floats LoadHalfs(const uint8_t* at, int) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
  }
  static Ints Set(int x) { return _mm512_set1_epi32(x); }
  static Ints SetBytes(int x) { return _mm512_set1_epi8(static_cast<char>(x)); }
  static Floats SetFloat(float x) { return _mm512_set1_ps(x); }
  static Ints And(Ints a, Ints b) { return _mm512_and_si512(a, b); }
  static Ints Or(Ints a, Ints b) { return _mm512_or_si512(a, b); }
  static Ints Xor(Ints a, Ints b) { return _mm512_xor_si512(a, b); }
  static Ints Subtract(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
  static Ints MultiplyInts(Ints a, Ints b) { return _mm512_mullo_epi32(a, b); }
  static Ints Max(Ints a, Ints b) { return _mm512_max_epi32(a, b); }
  static Ints AddBytes(Ints a, Ints b) { return _mm512_add_epi8(a, b); }
  static Ints SubtractBytes(Ints a, Ints b) { return _mm512_sub_epi8(a, b); }
  static Ints Left(Ints x, int bits) { return _mm512_sll_epi32(x, _mm_cvtsi32_si128(bits)); }
  static Ints Right(Ints x, int bits) { return _mm512_srl_epi32(x, _mm_cvtsi32_si128(bits)); }
  static Ints ZeroWhere(Ints x, int value) {
    return _mm512_maskz_mov_epi32(_mm512_cmpneq_epi32_mask(x, Set(value)), x);
  }
  static Ints Where(Ints condition, Ints a, Ints b) {
    return _mm512_mask_mov_epi32(b, _mm512_test_epi32_mask(condition, condition), a);
  }
  // Of each byte below 16.
  static Ints Table(const uint8_t* table, Ints places) {
    const __m128i bytes = _mm_load_si128(reinterpret_cast<const __m128i*>(table));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(bytes), places);
  }
  // By the low four bits.
  static Ints Lookup(const uint32_t* table, Ints places) {
    return _mm512_permutexvar_epi32(places, _mm512_load_si512(table));
  }
  static Ints Gather(const void* table, Ints places) {
    return _mm512_i32gather_epi32(places, table, 4);
  }
  static Floats ToFloats(Ints x) { return _mm512_cvtepi32_ps(x); }
  static Floats AsFloats(Ints x) { return _mm512_castsi512_ps(x); }
  // The low halves, as half-precision numbers.
  static Floats HalfsOf(Ints x) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(x)); }
  static Floats Multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats Negative(Floats x) { return _mm512_sub_ps(_mm512_setzero_ps(), x); }
};

}  // namespace oi::kernels::avx512
