// Sums of products of unsigned weights, 8 rows x 4 bytes in a register, and signed activations from
// -127 to 127, exactly.
//
// Dots<W>::Add<place, kSteps>(source, step, quants, dots) adds kSteps steps of the source's block,
// from `step` on, to 32-bit sums: [vector of 8 rows][column]. `quants` [step][column], 4
// activations each.

#pragma once

#include <immintrin.h>

#include <cstdint>

namespace oi::kernels::avx2 {
namespace {  // sources for other instructions have their own

constexpr int kVectors = 2;  // of 8 rows, in a tile

// Without VNNI. `vpmaddubsw` adds the products of two bytes in 16 bits, where 2 * 127 * 255 has no
// room. Small weights leave room for the sums of kRun steps; those that leave none, whole bytes,
// go in as |weight| and the activation with the weight's sign: 2 * 128 * 127 has room.
template <class W>
struct MaddDots {
  static constexpr int kRun = 32767 / (2 * 127 * W::kLargest);
  static constexpr bool kWholeBytes = kRun == 0;
  static_assert(!kWholeBytes || W::kOffset == 128);
  // Whole bytes are made signed again, so the sums start at 0.
  static constexpr int kOffset = kWholeBytes ? 0 : W::kOffset;
  static constexpr int kGroup = kRun >= 4 ? 6 : 4;

  template <int kPlace, int kSteps, int C, class Source>
  [[gnu::always_inline]] static inline void Add(const Source& source, int step,
                                                const int32_t* quants,
                                                __m256i (&dots)[kVectors][C]) {
    if constexpr (kRun < 4) {
#pragma GCC unroll 8
      for (int s = step; s < step + kSteps; s += kAtOnce) {
        AddFew<kPlace, C>(source, s, quants, dots);
      }
    } else {
#pragma GCC unroll 2
      for (int s = step; s < step + kSteps; s += kInRuns) {
        AddRun<kPlace, C>(source, s, quants, dots);
      }
    }
  }

 private:
  static constexpr int kAtOnce = kRun < 2 ? 1 : 2;
  static constexpr int kInRuns = kRun >= 8 && W::kHalves == 1 ? 8 : 4;

  static __m256i Widen(__m256i pairs) { return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)); }

  // Of one step or two, the weights stay in registers, and the 32-bit sums.
  template <int kPlace, int C, class Source>
  [[gnu::always_inline]] static inline void AddFew(const Source& source, int s,
                                                   const int32_t* quants,
                                                   __m256i (&dots)[kVectors][C]) {
    __m256i first[kVectors];
    __m256i second[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kWholeBytes) {
        second[v] = _mm256_xor_si256(source.template Step<kPlace>(s, v), _mm256_set1_epi8(-128));
        first[v] = _mm256_abs_epi8(second[v]);
      } else {
        first[v] = source.template Step<kPlace>(s, v);
        if constexpr (kAtOnce == 2) second[v] = source.template Step<kPlace>(s + 1, v);
      }
    }
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const __m256i a = _mm256_set1_epi32(quants[s * C + c]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        __m256i pairs;
        if constexpr (kWholeBytes) {
          pairs = _mm256_maddubs_epi16(first[v], _mm256_sign_epi8(a, second[v]));
        } else if constexpr (kAtOnce == 1) {
          pairs = _mm256_maddubs_epi16(first[v], a);
        } else {
          const __m256i b = _mm256_set1_epi32(quants[(s + 1) * C + c]);
          pairs = _mm256_add_epi16(_mm256_maddubs_epi16(first[v], a),
                                   _mm256_maddubs_epi16(second[v], b));
        }
        dots[v][c] = _mm256_add_epi32(dots[v][c], Widen(pairs));
      }
    }
  }

  // Of 4 or 8 steps, the 16-bit sums stay in registers.
  template <int kPlace, int C, class Source>
  [[gnu::always_inline]] static inline void AddRun(const Source& source, int begin,
                                                   const int32_t* quants,
                                                   __m256i (&dots)[kVectors][C]) {
    __m256i pairs[kVectors][C];
#pragma GCC unroll 8
    for (int i = 0; i < kInRuns; ++i) {
      const int s = begin + i;
      __m256i weights[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) weights[v] = source.template Step<kPlace>(s, v);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const __m256i a = _mm256_set1_epi32(quants[s * C + c]);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          const __m256i both = _mm256_maddubs_epi16(weights[v], a);
          pairs[v][c] = i == 0 ? both : _mm256_add_epi16(pairs[v][c], both);
        }
      }
    }
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) dots[v][c] = _mm256_add_epi32(dots[v][c], Widen(pairs[v][c]));
    }
  }
};

// With an instruction that adds the products of 4 unsigned and signed bytes to a 32-bit sum:
// Dpbusd::Add(sum, weights, activations).
template <class W, class Dpbusd>
struct FusedDots {
  static constexpr int kOffset = W::kOffset;
  static constexpr int kGroup = 6;

  template <int kPlace, int kSteps, int C, class Source>
  [[gnu::always_inline]] static inline void Add(const Source& source, int step,
                                                const int32_t* quants,
                                                __m256i (&dots)[kVectors][C]) {
#pragma GCC unroll 8
    for (int s = step; s < step + kSteps; ++s) {
      __m256i weights[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) weights[v] = source.template Step<kPlace>(s, v);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const __m256i a = _mm256_set1_epi32(quants[s * C + c]);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) dots[v][c] = Dpbusd::Add(dots[v][c], weights[v], a);
      }
    }
  }
};

}  // namespace
}  // namespace oi::kernels::avx2
