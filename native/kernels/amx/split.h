// Numbers split into two of BF16, in the order in which tile registers multiply them.

#pragma once

#include "../avx512/registers.h"
#include "../simd/attention.h"
#include "tiles.h"

namespace oi::kernels::amx {

using simd::kCells;

struct Here;

struct Registers : avx512::Registers<Here> {
  // Many tiles share the work of splitting keys and values.
  static constexpr int64_t kMaxTiles = 16;
};

constexpr int64_t kRows = simd::kRows<Registers>;
static_assert(kRows == 32 && kCells == 32);
constexpr int64_t kStep = 32;  // values of a register's row

// Values in whole registers.
constexpr int64_t Padded(int64_t size) { return (size + kStep - 1) / kStep * kStep; }

// Two numbers of BF16 for each: first, and second unless the numbers were BF16.
struct Split {
  uint8_t* first;
  uint8_t* second;
};

// Rounded to BF16.
inline __m512i UpperHalf(__m512 x) {
  return _mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000)),
                          _mm512_set1_epi32(-0x10000));
}

// What that leaves, rounded to BF16 in the upper half of each number.
inline __m512i Rest(__m512 x) {
  const __m512 rest = _mm512_sub_ps(x, _mm512_castsi512_ps(UpperHalf(x)));
  return _mm512_add_epi32(_mm512_castps_si512(rest), _mm512_set1_epi32(0x8000));
}

// The upper halves of two vectors: lane by lane, the first one's below.
inline __m512i Interleave(__m512i a, __m512i b) {
  return _mm512_ternarylogic_epi32(b, _mm512_set1_epi32(-0x10000), _mm512_srli_epi32(a, 16), 0xEA);
}

// The upper halves of two vectors, one vector after the other.
inline __m512i Join(__m512i a, __m512i b) {
  const __m512i odd = _mm512_add_epi16(
      _mm512_set1_epi16(1),
      _mm512_slli_epi16(_mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17,
                                         16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                        1));
  return _mm512_permutex2var_epi16(a, odd, b);
}

inline __m512 LoadCached(CacheFormat format, const uint8_t* at) {
  switch (format) {
    case CacheFormat::kF16:
      return Registers::LoadF16(at);
    case CacheFormat::kBF16:
      return Registers::LoadBF16(at);
    case CacheFormat::kF32:
      break;
  }
  return _mm512_loadu_ps(at);
}

// Whether numbers of the cache are more than their upper halves.
inline bool HasRest(CacheFormat format) { return format != CacheFormat::kBF16; }

// Keys; of cells that nobody sees, zeros.
inline void SplitKeys(const AttentionShape& shape, const simd::BlockCells<Registers>& cells,
                      const Split& to) {
  const int64_t line = Padded(shape.key_size) * 2;
  const auto bytes = static_cast<int64_t>(BytesOf(shape.format));
  for (int64_t cell = 0; cell < kCells; ++cell) {
    const bool here = cells.has(cell);
    const uint8_t* from = here ? cells.at(cell) : nullptr;
    for (int64_t i = 0; i < shape.key_size; i += kStep) {
      const bool both = i + 16 < shape.key_size;
      const __m512 a = here ? LoadCached(shape.format, from + i * bytes) : _mm512_setzero_ps();
      const __m512 b =
          here && both ? LoadCached(shape.format, from + (i + 16) * bytes) : _mm512_setzero_ps();
      const int64_t at = cell * line + i * 2;
      _mm512_store_si512(to.first + at, Join(UpperHalf(a), UpperHalf(b)));
      if (HasRest(shape.format)) _mm512_store_si512(to.second + at, Join(Rest(a), Rest(b)));
    }
  }
}

// The same of values, transposed: of each index, all cells.
inline void SplitValues(const AttentionShape& shape, const simd::BlockCells<Registers>& cells,
                        const Split& to) {
  const auto load = [&](int64_t cell, int64_t d) {
    if (!cells.has(cell)) return _mm512_setzero_ps();
    return LoadCached(shape.format,
                      cells.at(cell) + static_cast<size_t>(d) * BytesOf(shape.format));
  };
  alignas(64) float pairs[2][16][16];
  const float* lines[2][16];
  for (int64_t i = 0; i < 16; ++i) {
    lines[0][i] = pairs[0][i];
    lines[1][i] = pairs[1][i];
  }
  for (int64_t d = 0; d < shape.value_size; d += 16) {
    for (int64_t i = 0; i < 16; ++i) {
      const __m512 a = load(2 * i, d);
      const __m512 b = load(2 * i + 1, d);
      _mm512_store_si512(pairs[0][i], Interleave(UpperHalf(a), UpperHalf(b)));
      _mm512_store_si512(pairs[1][i], Interleave(Rest(a), Rest(b)));
    }
    const int64_t at = d * kCells * 2;
    avx512::Transpose16(lines[0], reinterpret_cast<float*>(to.first + at), 16);
    if (HasRest(shape.format)) {
      avx512::Transpose16(lines[1], reinterpret_cast<float*>(to.second + at), 16);
    }
  }
}

// Floats [count][kRows] as pairs of lines: [2 halves of rows][Padded(count) / 2][16 rows][2].
inline void SplitLines(const float* from, int64_t count, const Split& to) {
  const int64_t padded = Padded(count);
  for (int64_t half = 0; half < 2; ++half) {
    for (int64_t i = 0; i < padded; i += 2) {
      const float* line = from + i * kRows + half * 16;
      const __m512 a = i < count ? _mm512_load_ps(line) : _mm512_setzero_ps();
      const __m512 b = i < count ? _mm512_load_ps(line + kRows) : _mm512_setzero_ps();
      const int64_t at = (half * padded + i) / 2 * kTileWidth;
      _mm512_store_si512(to.first + at, Interleave(UpperHalf(a), UpperHalf(b)));
      _mm512_store_si512(to.second + at, Interleave(Rest(a), Rest(b)));
    }
  }
}

}  // namespace oi::kernels::amx
