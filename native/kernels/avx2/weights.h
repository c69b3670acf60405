// How each quantized format's tiles become registers of 8 rows x 4 unsigned bytes per step, and the
// scales of 16 rows as floats.
//
// A format W gives:
//   kFormat            which it is
//   kOffset            what was added to the quants to make them unsigned
//   kLargest           the largest of them
//   kHalves            scales of its own for each 16 values (2) or each 32 (1)
//   kMins              minima that are subtracted, weight = scale * quant - minimum: none, one for
//                      each 32 values, or for each 16 (2, and then kHalves is 1 and kOffset 0)
//   kPlaces            blocks in a row that share bytes, each with shifts of its own
//   W(tile, k)         looks at one tile of rows of k values
//   At(block)          moves to a block of 32 values
//   Step<place>(s, v)  the quants of values 4 s to 4 s + 3 of the block, s in 0..7, of the tile's
//                      rows 8 v to 8 v + 7; place: block % kPlaces
//   kUnpackAbove       with more columns than this, quants are unpacked once for all of them
//   Scales(begin, end, to)  writes the scales of blocks, of K formats whole super-blocks of them:
//                      [block][kHalves + kMins][16]; minima last

#pragma once

#include <immintrin.h>

#include "../format.h"

namespace oi::kernels::avx2 {
namespace {  // sources for other instructions have their own

constexpr int64_t kNeverUnpack = INT64_MAX;
constexpr int64_t kAlwaysUnpack = 0;

inline __m256i LoadStep(const uint8_t* step, int s, int v) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(step + s * 64 + v * 32));
}

inline __m256i LowNibbles(__m256i bytes) { return _mm256_and_si256(bytes, _mm256_set1_epi8(0x0F)); }

inline __m256 LoadHalfs(const uint8_t* at) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}

inline __m128i LoadBytes(const uint8_t* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// The scales of 16 rows.
struct RowScales {
  explicit RowScales(const uint8_t* halfs) : of_rows{LoadHalfs(halfs), LoadHalfs(halfs + 16)} {}

  void Store(float* to) const {
    for (int v = 0; v < 2; ++v) _mm256_store_ps(to + v * 8, of_rows[v]);
  }

  // Times 16 bytes.
  template <bool kSigned>
  void StoreTimes(__m128i bytes, float* to) const {
    for (int v = 0; v < 2; ++v) {
      const __m256i wide = kSigned ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
      _mm256_store_ps(to + v * 8, _mm256_mul_ps(of_rows[v], _mm256_cvtepi32_ps(wide)));
      bytes = _mm_unpackhi_epi64(bytes, bytes);
    }
  }

  __m256 of_rows[2];
};

// Of blocks with nothing but a scale.
inline void PlainScales(const uint8_t* scales, int64_t begin, int64_t end, float* to) {
  for (int64_t block = begin; block < end; ++block, to += kTileRows) {
    RowScales(scales + block * 32).Store(to);
  }
}

constexpr int64_t kSuperBlocks = kSuperBlock / kBlock;

class WeightsQ8_0 {
 public:
  static constexpr Format kFormat = Format::kQ8_0;
  static constexpr int kOffset = 128;
  static constexpr int kLargest = 255;
  static constexpr int kHalves = 1;
  static constexpr int kMins = 0;
  static constexpr int kPlaces = 1;
  static constexpr int64_t kUnpackAbove = kNeverUnpack;

  WeightsQ8_0(const uint8_t* tile, int64_t k) : quants_(tile), scales_(tile + kTileRows * k) {}
  void At(int64_t block) { step_ = quants_ + block * 512; }
  template <int>
  __m256i Step(int s, int v) const {
    return LoadStep(step_, s, v);
  }
  void Scales(int64_t begin, int64_t end, float* to) const { PlainScales(scales_, begin, end, to); }

 private:
  const uint8_t* quants_;
  const uint8_t* scales_;
  const uint8_t* step_ = nullptr;
};

class WeightsQ4_0 {
 public:
  static constexpr Format kFormat = Format::kQ4_0;
  static constexpr int kOffset = 8;
  static constexpr int kLargest = 15;
  static constexpr int kHalves = 1;
  static constexpr int kMins = 0;
  static constexpr int kPlaces = 1;
  static constexpr int64_t kUnpackAbove = 6;

  WeightsQ4_0(const uint8_t* tile, int64_t k) : quants_(tile), scales_(tile + kTileRows * k / 2) {}
  void At(int64_t block) { step_ = quants_ + block * 256; }
  // The first 16 values are the low nibbles, the others the high ones of the same bytes.
  template <int>
  __m256i Step(int s, int v) const {
    const __m256i bytes = LoadStep(step_, s % 4, v);
    return LowNibbles(s < 4 ? bytes : _mm256_srli_epi16(bytes, 4));
  }
  void Scales(int64_t begin, int64_t end, float* to) const { PlainScales(scales_, begin, end, to); }

 private:
  const uint8_t* quants_;
  const uint8_t* scales_;
  const uint8_t* step_ = nullptr;
};

// Q4_K and Q5_K: 8 scales and 8 minima of 6 bits in 12 bytes; scale and minimum i < 4 in the low
// bits of bytes i and i + 4, the others in the nibbles of byte i + 4 with their top bits in the top
// bits of bytes i - 4 and i.
inline void ScalesAndMins(const uint8_t* scales, int64_t begin, int64_t end, float* to) {
  const __m128i low6 = _mm_set1_epi8(0x3F);
  const __m128i low4 = _mm_set1_epi8(0x0F);
  const __m128i top2 = _mm_set1_epi8(0x30);
  for (int64_t block = begin; block < end; block += kSuperBlocks) {
    const uint8_t* super = scales + block / kSuperBlocks * 256;
    const uint8_t* bytes = super + 64;
    const RowScales row_scales(super);
    const RowScales row_mins(super + 32);
#pragma GCC unroll 8
    for (int i = 0; i < kSuperBlocks; ++i, to += 2 * kTileRows) {
      const __m128i behind = LoadBytes(bytes + (i + 4) * 16);
      __m128i scale, min;
      if (i < 4) {
        scale = _mm_and_si128(LoadBytes(bytes + i * 16), low6);
        min = _mm_and_si128(behind, low6);
      } else {
        const __m128i scale_top = _mm_srli_epi16(LoadBytes(bytes + (i - 4) * 16), 2);
        const __m128i min_top = _mm_srli_epi16(LoadBytes(bytes + i * 16), 2);
        scale = _mm_or_si128(_mm_and_si128(behind, low4), _mm_and_si128(scale_top, top2));
        min = _mm_or_si128(_mm_and_si128(_mm_srli_epi16(behind, 4), low4),
                           _mm_and_si128(min_top, top2));
      }
      row_scales.StoreTimes<false>(scale, to);
      row_mins.StoreTimes<false>(min, to + kTileRows);
    }
  }
}

class WeightsQ4_K {
 public:
  static constexpr Format kFormat = Format::kQ4_K;
  static constexpr int kOffset = 0;
  static constexpr int kLargest = 15;
  static constexpr int kHalves = 1;
  static constexpr int kMins = 1;
  static constexpr int kPlaces = 2;
  static constexpr int64_t kUnpackAbove = 6;

  WeightsQ4_K(const uint8_t* tile, int64_t k) : quants_(tile), scales_(tile + kTileRows * k / 2) {}
  // Two blocks share 32 bytes of a row: the even one has the low nibbles.
  void At(int64_t block) { step_ = quants_ + block / 2 * 512; }
  template <int kPlace>
  __m256i Step(int s, int v) const {
    const __m256i bytes = LoadStep(step_, s, v);
    return LowNibbles(kPlace == 0 ? bytes : _mm256_srli_epi16(bytes, 4));
  }
  void Scales(int64_t begin, int64_t end, float* to) const {
    ScalesAndMins(scales_, begin, end, to);
  }

 private:
  const uint8_t* quants_;
  const uint8_t* scales_;
  const uint8_t* step_ = nullptr;
};

// Nibbles at steps of their own, and above them high bits that a shift by bits brings there.
class NibblesAndHighBits {
 public:
  NibblesAndHighBits(const uint8_t* quants, const uint8_t* high) : quants_(quants), high_(high) {}
  void At(int64_t offset, int64_t high_offset) {
    step_ = quants_ + offset;
    high_step_ = high_ + high_offset;
  }
  // kUp: where the high bits must go, to the left; negative to the right.
  template <bool kHighNibbles, int kUp, int kHighMask>
  __m256i Step(int s, int v) const {
    const __m256i bytes = LoadStep(step_, s, v);
    const __m256i nibbles = LowNibbles(kHighNibbles ? _mm256_srli_epi16(bytes, 4) : bytes);
    const __m256i bits = LoadStep(high_step_, s, v);
    const __m256i high = kUp < 0 ? _mm256_srli_epi16(bits, -kUp) : _mm256_slli_epi16(bits, kUp);
    return _mm256_or_si256(nibbles, _mm256_and_si256(high, _mm256_set1_epi8(kHighMask)));
  }

 private:
  const uint8_t* quants_;
  const uint8_t* high_;
  const uint8_t* step_ = nullptr;
  const uint8_t* high_step_ = nullptr;
};

class WeightsQ5_K {
 public:
  static constexpr Format kFormat = Format::kQ5_K;
  static constexpr int kOffset = 0;
  static constexpr int kLargest = 31;
  static constexpr int kHalves = 1;
  static constexpr int kMins = 1;
  static constexpr int kPlaces = 8;
  static constexpr int64_t kUnpackAbove = 6;

  WeightsQ5_K(const uint8_t* tile, int64_t k)
      : quants_(tile, tile + kTileRows * k / 2), scales_(tile + kTileRows * (k / 2 + k / 8)) {}
  // Bit i of a row's high byte belongs to block i of the super-block.
  void At(int64_t block) { quants_.At(block / 2 * 512, block / 8 * 512); }
  template <int kPlace>
  __m256i Step(int s, int v) const {
    return quants_.Step<kPlace % 2 == 1, 4 - kPlace, 0x10>(s, v);
  }
  void Scales(int64_t begin, int64_t end, float* to) const {
    ScalesAndMins(scales_, begin, end, to);
  }

 private:
  NibblesAndHighBits quants_;
  const uint8_t* scales_;
};

class WeightsQ6_K {
 public:
  static constexpr Format kFormat = Format::kQ6_K;
  static constexpr int kOffset = 32;
  static constexpr int kLargest = 63;
  static constexpr int kHalves = 2;
  static constexpr int kMins = 0;
  static constexpr int kPlaces = 4;
  static constexpr int64_t kUnpackAbove = 4;

  WeightsQ6_K(const uint8_t* tile, int64_t k)
      : quants_(tile, tile + kTileRows * k / 2), scales_(tile + kTileRows * (k / 2 + k / 4)) {}
  // Each half of a super-block, 4 blocks, has 64 bytes of nibbles (low: blocks 0 and 1, high: 2 and
  // 3) and 32 bytes with 2 bits for each block.
  void At(int64_t block) {
    const int64_t half = block / 4;
    const int64_t i = block % 4;
    quants_.At(half * 1024 + i % 2 * 512, half * 512);
  }
  template <int kPlace>
  __m256i Step(int s, int v) const {
    return quants_.Step<kPlace / 2 == 1, 4 - 2 * kPlace, 0x30>(s, v);
  }
  void Scales(int64_t begin, int64_t end, float* to) const {
    for (int64_t block = begin; block < end; block += kSuperBlocks) {
      const uint8_t* super = scales_ + block / kSuperBlocks * 288;
      const uint8_t* bytes = super + 32;
      const RowScales row_scales(super);
      for (int half = 0; half < 2 * kSuperBlocks; ++half, bytes += 16, to += kTileRows) {
        row_scales.StoreTimes<true>(LoadBytes(bytes), to);
      }
    }
  }

 private:
  NibblesAndHighBits quants_;
  const uint8_t* scales_;
};

}  // namespace
}  // namespace oi::kernels::avx2
