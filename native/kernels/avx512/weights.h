// How each quantized format's tiles become registers: 16 rows x 4 unsigned bytes per step, and the
// scales of 16 rows as floats. Unpacking quants is a few operations on ports that the products
// leave free; scales are unpacked once for all columns.
//
// A format W gives:
//   kFormat            which it is
//   kOffset            what was added to the quants to make them unsigned
//   kHalves            scales of its own for each 16 values (2) or each 32 (1)
//   kMins              minima that are subtracted, weight = scale * quant - minimum: none, one for
//                      each 32 values, or for each 16 (2, and then kHalves is 1 and kOffset 0)
//   kGroup             columns that its registers leave room for
//   kUnpackAbove       with more columns than this, unpacking them again for every group of columns
//                      costs more than storing them unpacked
//   W(tile, k)         looks at one tile of rows of k values
//   At(block)          moves to a block of 32 values
//   Step(s)            the quants of values 4 s to 4 s + 3 of the block, s in 0..7
//   Scales(block, to)  writes the scales of a block, [kHalves + kMins][16]; minima last

#pragma once

#include <immintrin.h>

#include "../format.h"
#include "lanes.h"

namespace oi::kernels::avx512 {

constexpr int64_t kNeverUnpack = INT64_MAX;
constexpr int64_t kAlwaysUnpack = 0;

inline __m512 LoadHalfs(const uint8_t* at) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}

inline __m128i LoadBytes(const uint8_t* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

inline __m512i LoadStep(const uint8_t* at) { return _mm512_loadu_si512(at); }

class WeightsQ8_0 {
 public:
  static constexpr Format kFormat = Format::kQ8_0;
  static constexpr int kOffset = 128;
  static constexpr int kHalves = 1;
  static constexpr int kMins = 0;
  static constexpr int kGroup = 6;
  static constexpr int64_t kUnpackAbove = kNeverUnpack;

  WeightsQ8_0(const uint8_t* tile, int64_t k) : quants_(tile), scales_(tile + kTileRows * k) {}
  void At(int64_t block) { step_ = quants_ + block * 512; }
  __m512i Step(int s) const { return LoadStep(step_ + s * 64); }
  void Scales(int64_t block, float* to) const {
    _mm512_store_ps(to, LoadHalfs(scales_ + block * 32));
  }

 private:
  const uint8_t* quants_;
  const uint8_t* scales_;
  const uint8_t* step_ = nullptr;
};

class WeightsQ4_0 {
 public:
  static constexpr Format kFormat = Format::kQ4_0;
  static constexpr int kOffset = 8;
  static constexpr int kHalves = 1;
  static constexpr int kMins = 0;
  static constexpr int kGroup = 6;
  static constexpr int64_t kUnpackAbove = kNeverUnpack;

  WeightsQ4_0(const uint8_t* tile, int64_t k) : quants_(tile), scales_(tile + kTileRows * k / 2) {}
  void At(int64_t block) { step_ = quants_ + block * 256; }
  // The first 16 values are the low nibbles, the others the high ones of the same bytes.
  __m512i Step(int s) const {
    const __m512i bytes = LoadStep(step_ + (s % 4) * 64);
    return _mm512_and_si512(s < 4 ? bytes : _mm512_srli_epi16(bytes, 4), _mm512_set1_epi8(0x0F));
  }
  void Scales(int64_t block, float* to) const {
    _mm512_store_ps(to, LoadHalfs(scales_ + block * 32));
  }

 private:
  const uint8_t* quants_;
  const uint8_t* scales_;
  const uint8_t* step_ = nullptr;
};

// Q4_K and Q5_K: 8 scales and 8 minima of 6 bits in 12 bytes; scale and minimum i < 4 in the low
// bits of bytes i and i + 4, the others in the nibbles of byte i + 4 with their top bits in the top
// bits of bytes i - 4 and i.
inline void ScalesAndMins(const uint8_t* scales, int64_t block, float* to) {
  const uint8_t* super = scales + block / 8 * 256;
  const uint8_t* bytes = super + 64;
  const int64_t i = block % 8;
  const __m128i low6 = _mm_set1_epi8(0x3F);
  const __m128i low4 = _mm_set1_epi8(0x0F);
  const __m128i top2 = _mm_set1_epi8(0x30);
  __m128i scale, min;
  if (i < 4) {
    scale = _mm_and_si128(LoadBytes(bytes + i * 16), low6);
    min = _mm_and_si128(LoadBytes(bytes + (i + 4) * 16), low6);
  } else {
    const __m128i nibbles = LoadBytes(bytes + (i + 4) * 16);
    const __m128i scale_top = _mm_srli_epi16(LoadBytes(bytes + (i - 4) * 16), 2);
    const __m128i min_top = _mm_srli_epi16(LoadBytes(bytes + i * 16), 2);
    scale = _mm_or_si128(_mm_and_si128(nibbles, low4), _mm_and_si128(scale_top, top2));
    min =
        _mm_or_si128(_mm_and_si128(_mm_srli_epi16(nibbles, 4), low4), _mm_and_si128(min_top, top2));
  }
  const __m512 scales16 = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(scale));
  const __m512 mins16 = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(min));
  _mm512_store_ps(to, _mm512_mul_ps(LoadHalfs(super), scales16));
  _mm512_store_ps(to + kTileRows, _mm512_mul_ps(LoadHalfs(super + 32), mins16));
}

class WeightsQ4_K {
 public:
  static constexpr Format kFormat = Format::kQ4_K;
  static constexpr int kOffset = 0;
  static constexpr int kHalves = 1;
  static constexpr int kMins = 1;
  static constexpr int kGroup = 6;
  static constexpr int64_t kUnpackAbove = 2 * kGroup;

  WeightsQ4_K(const uint8_t* tile, int64_t k) : quants_(tile), scales_(tile + kTileRows * k / 2) {}
  // Two blocks share 32 bytes of a row: the even one has the low nibbles.
  void At(int64_t block) {
    step_ = quants_ + block / 2 * 512;
    shift_ = _mm_cvtsi32_si128(static_cast<int>(block % 2) * 4);
  }
  __m512i Step(int s) const {
    return _mm512_and_si512(_mm512_srl_epi16(LoadStep(step_ + s * 64), shift_),
                            _mm512_set1_epi8(0x0F));
  }
  void Scales(int64_t block, float* to) const { ScalesAndMins(scales_, block, to); }

 private:
  const uint8_t* quants_;
  const uint8_t* scales_;
  const uint8_t* step_ = nullptr;
  __m128i shift_ = _mm_setzero_si128();
};

class WeightsQ5_K {
 public:
  static constexpr Format kFormat = Format::kQ5_K;
  static constexpr int kOffset = 0;
  static constexpr int kHalves = 1;
  static constexpr int kMins = 1;
  static constexpr int kGroup = 6;
  static constexpr int64_t kUnpackAbove = 2 * kGroup;

  WeightsQ5_K(const uint8_t* tile, int64_t k)
      : quants_(tile), high_(tile + kTileRows * k / 2), scales_(high_ + kTileRows * k / 8) {}
  // Bit i of a row's high byte belongs to block i of the super-block.
  void At(int64_t block) {
    step_ = quants_ + block / 2 * 512;
    high_step_ = high_ + block / 8 * 512;
    shift_ = _mm_cvtsi32_si128(static_cast<int>(block % 2) * 4);
    rotation_ = _mm512_set1_epi32(static_cast<int>((4 - block % 8) & 31));
  }
  __m512i Step(int s) const {
    const __m512i nibbles = _mm512_and_si512(_mm512_srl_epi16(LoadStep(step_ + s * 64), shift_),
                                             _mm512_set1_epi8(0x0F));
    const __m512i high = _mm512_rolv_epi32(LoadStep(high_step_ + s * 64), rotation_);
    // (high & 0x10) | nibbles
    return _mm512_ternarylogic_epi32(high, _mm512_set1_epi8(0x10), nibbles, 0xEA);
  }
  void Scales(int64_t block, float* to) const { ScalesAndMins(scales_, block, to); }

 private:
  const uint8_t* quants_;
  const uint8_t* high_;
  const uint8_t* scales_;
  const uint8_t* step_ = nullptr;
  const uint8_t* high_step_ = nullptr;
  __m128i shift_ = _mm_setzero_si128();
  __m512i rotation_ = _mm512_setzero_si512();
};

class WeightsQ6_K {
 public:
  static constexpr Format kFormat = Format::kQ6_K;
  static constexpr int kOffset = 32;
  static constexpr int kHalves = 2;
  static constexpr int kMins = 0;
  static constexpr int kGroup = 6;
  static constexpr int64_t kUnpackAbove = 2 * kGroup;

  WeightsQ6_K(const uint8_t* tile, int64_t k)
      : quants_(tile), high_(tile + kTileRows * k / 2), scales_(high_ + kTileRows * k / 4) {}
  // Each half of a super-block, 4 blocks, has 64 bytes of nibbles (low: blocks 0 and 1, high: 2 and
  // 3) and 32 bytes with 2 bits for each block.
  void At(int64_t block) {
    const int64_t half = block / 4;
    const int64_t i = block % 4;
    step_ = quants_ + half * 1024 + i % 2 * 512;
    high_step_ = high_ + half * 512;
    shift_ = _mm_cvtsi32_si128(static_cast<int>(i / 2) * 4);
    rotation_ = _mm512_set1_epi32(static_cast<int>((4 - 2 * i) & 31));
  }
  __m512i Step(int s) const {
    const __m512i nibbles = _mm512_and_si512(_mm512_srl_epi16(LoadStep(step_ + s * 64), shift_),
                                             _mm512_set1_epi8(0x0F));
    const __m512i high = _mm512_rolv_epi32(LoadStep(high_step_ + s * 64), rotation_);
    // (high & 0x30) | nibbles
    return _mm512_ternarylogic_epi32(high, _mm512_set1_epi8(0x30), nibbles, 0xEA);
  }
  void Scales(int64_t block, float* to) const {
    const uint8_t* super = scales_ + block / 8 * 288;
    const uint8_t* bytes = super + 32 + block % 8 * 32;
    for (int half = 0; half < 2; ++half) {
      const __m512i scale = _mm512_cvtepi8_epi32(LoadBytes(bytes + half * 16));
      _mm512_store_ps(to + half * kTileRows,
                      _mm512_mul_ps(LoadHalfs(super), _mm512_cvtepi32_ps(scale)));
    }
  }

 private:
  const uint8_t* quants_;
  const uint8_t* high_;
  const uint8_t* scales_;
  const uint8_t* step_ = nullptr;
  const uint8_t* high_step_ = nullptr;
  __m128i shift_ = _mm_setzero_si128();
  __m512i rotation_ = _mm512_setzero_si512();
};

// A format of ../simd.
template <template <class> class Code>
class Coded {
 public:
  static constexpr Format kFormat = Code<Lanes>::kFormat;
  static constexpr int kOffset = Code<Lanes>::kOffset;
  static constexpr int kHalves = Code<Lanes>::kHalves;
  static constexpr int kMins = Code<Lanes>::kMins;
  static constexpr int kGroup = 6;
  static constexpr int64_t kUnpackAbove = kAlwaysUnpack;

  Coded(const uint8_t* tile, int64_t k) : code_(tile, k) {}
  void At(int64_t block) { code_.At(block); }
  __m512i Step(int s) const { return code_.Step(s, 0); }
  void Scales(int64_t block, float* to) const {
    for (int i = 0; i < kHalves; ++i, to += kTileRows) {
      _mm512_store_ps(to, code_.Scale(block, i, 0));
    }
    if constexpr (kMins > 0) {
      for (int i = 0; i < kMins; ++i, to += kTileRows) {
        _mm512_store_ps(to, code_.Min(block, i, 0));
      }
    }
  }

 private:
  Code<Lanes> code_;
};

// For ../simd/formats.h.
struct Weights {
  using Q8_0 = WeightsQ8_0;
  using Q4_0 = WeightsQ4_0;
  using Q4_K = WeightsQ4_K;
  using Q5_K = WeightsQ5_K;
  using Q6_K = WeightsQ6_K;
  template <template <class> class Code>
  using Of = Coded<Code>;
};

}  // namespace oi::kernels::avx512
