// Products of BF16 weights: `vdpbf16ps`, two values of each row and column at once. Activations are
// rounded to BF16, as stock llama.cpp rounds them.

#include "float_sums.h"
#include "kernels.h"

namespace oi::kernels::avx512 {
namespace {

struct WeightsBF16 {
  static constexpr int kGroup = 12;
  static constexpr int kParts = 1;
  static constexpr int64_t kValues = 2;
  static constexpr int64_t kTileStepBytes = 64;
  using Register = __m512i;

  template <int>
  static Register Load(const uint8_t* step) {
    return _mm512_loadu_si512(step);
  }
  static __m512 Add(__m512 sum, Register weights, __m512 column) {
    return _mm512_dpbf16_ps(sum, (__m512bh)weights, (__m512bh)column);
  }
};

__m512i Pairs(const float* x) {
  return (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + 16), _mm512_loadu_ps(x));
}

// 32 values of four columns: four neighbours in each of 16 steps of `width` pairs.
void ConvertFour(const float* const* columns, int64_t i, int32_t* to, int64_t width) {
  const __m512i a = Pairs(columns[0] + i);
  const __m512i b = Pairs(columns[1] + i);
  const __m512i c = Pairs(columns[2] + i);
  const __m512i d = Pairs(columns[3] + i);
  const __m512i ab[] = {_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)};
  const __m512i cd[] = {_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d)};
  // Quarter q of a register holds what belongs to step 4 q + j.
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512i steps = j % 2 == 0 ? _mm512_unpacklo_epi64(ab[j / 2], cd[j / 2])
                                     : _mm512_unpackhi_epi64(ab[j / 2], cd[j / 2]);
    const auto store = [&](int q, __m128i quarter) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + (4 * q + j) * width), quarter);
    };
    store(0, _mm512_castsi512_si128(steps));
    store(1, _mm512_extracti32x4_epi32(steps, 1));
    store(2, _mm512_extracti32x4_epi32(steps, 2));
    store(3, _mm512_extracti32x4_epi32(steps, 3));
  }
}

// Steps of a group of n columns lie as [k/2][n] pairs.
void Convert(const float* const* columns, int64_t width, int64_t, int64_t begin, int64_t end,
             uint8_t* group_start) {
  auto* steps = reinterpret_cast<int32_t*>(group_start);
  int64_t c = 0;
  for (; c + 4 <= width; c += 4) {
    for (int64_t i = begin; i < end; i += 32) {
      ConvertFour(columns + c, i, steps + i / 2 * width + c, width);
    }
  }
  for (; c < width; ++c) {
    for (int64_t i = begin; i < end; i += 32) {
      alignas(64) int32_t pairs[16];
      _mm512_store_si512(pairs, Pairs(columns[c] + i));
      for (int64_t s = 0; s < 16; ++s) steps[(i / 2 + s) * width + c] = pairs[s];
    }
  }
}

void Residual(const float* values, int64_t count, float* result) {
  for (int64_t i = 0; i < count; i += 16) {
    const __m512 x = _mm512_loadu_ps(values + i);
    const __m512i rounded = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(x));
    _mm512_storeu_ps(result + i, _mm512_sub_ps(x, (__m512)_mm512_slli_epi32(rounded, 16)));
  }
}

constexpr ProductKernel kKernel{WeightsBF16::kGroup,
                                FloatActivationBytes<WeightsBF16>,
                                Convert,
                                MultiplyFloat<WeightsBF16>,
                                /*multiply_gated=*/nullptr,
                                /*rounds_weights=*/false,
                                Residual};

}  // namespace

const ProductKernel* Bf16Product() { return &kKernel; }

}  // namespace oi::kernels::avx512
