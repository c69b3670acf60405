// Attention (../simd/attention.h) with its products in tile registers.
//
// Numbers are split into two of BF16, of which the first holds the upper 8 bits and the second what
// is left: all of a cached F16, 16 bits of a float. Products of the first with both of the other
// side lose 2^-16; one BF16 alone would lose 2^-9, which a logit shows. Softmax is that of vectors.

#include "../simd/attention.h"

#include "../avx512/registers.h"
#include "kernels.h"
#include "tiles.h"

namespace oi::kernels::amx {
namespace {

using simd::AttentionRows;
using simd::BlockMask;
using simd::kCells;

struct Here;

struct Registers : avx512::Registers<Here> {
  // Many tiles share the work of splitting keys and values.
  static constexpr int64_t kMaxTiles = 16;
};

constexpr int64_t kRows = simd::kRows<Registers>;
static_assert(kRows == 32 && kCells == 32);
constexpr int64_t kLineBytes = kRows * 4;  // of scores and results
constexpr int64_t kStep = 32;              // values of a register's row

// Values in whole registers.
constexpr int64_t Padded(int64_t size) { return (size + kStep - 1) / kStep * kStep; }

// Two numbers of BF16 for each: first, and second unless the numbers were BF16.
struct Split {
  uint8_t* first;
  uint8_t* second;
};

struct AmxTile {
  simd::Tile floats;
  Split queries;  // [2 halves of rows][Padded(key_size) / 2][16 rows][2]
};

struct Scratch {
  Split keys;      // [kCells][Padded(key_size)]
  Split values;    // [Padded(value_size)][kCells]
  float* scores;   // [kCells][kRows]; of the weights, too
  Split weights;   // [2 halves of rows][kCells / 2][16 rows][2]
  float* mask;     // [kCells][kRows]
  float* queries;  // [key_size][kRows], while a tile is started
  AmxTile tiles[Registers::kMaxTiles];
};

// Hands out memory; with none, counts it.
class Memory {
 public:
  explicit Memory(uint8_t* start) : start_(start) {}
  template <class T>
  T* Take(int64_t count) {
    T* here = start_ == nullptr ? nullptr : reinterpret_cast<T*>(start_ + used_);
    used_ += (static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return here;
  }
  Split TakeSplit(int64_t count) { return {Take<uint8_t>(count * 2), Take<uint8_t>(count * 2)}; }
  size_t used() const { return used_; }

 private:
  uint8_t* start_;
  size_t used_ = 0;
};

Scratch Divide(int64_t key_size, int64_t value_size, Memory& memory) {
  Scratch scratch{};
  scratch.keys = memory.TakeSplit(kCells * Padded(key_size));
  scratch.values = memory.TakeSplit(kCells * Padded(value_size));
  scratch.scores = memory.Take<float>(kCells * kRows);
  scratch.weights = memory.TakeSplit(kCells * kRows);
  scratch.mask = memory.Take<float>(kCells * kRows);
  scratch.queries = memory.Take<float>(key_size * kRows);
  for (AmxTile& tile : scratch.tiles) {
    tile.queries = memory.TakeSplit(Padded(key_size) * kRows);
    tile.floats.queries = scratch.queries;
    tile.floats.results = memory.Take<float>(Padded(value_size) * kRows);
    tile.floats.maximum = memory.Take<float>(kRows);
    tile.floats.sum = memory.Take<float>(kRows);
  }
  return scratch;
}

size_t ScratchBytes(int64_t key_size, int64_t value_size) {
  Memory memory(nullptr);
  Divide(key_size, value_size, memory);
  return memory.used();
}

// Rounded to BF16.
__m512i UpperHalf(__m512 x) {
  return _mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000)),
                          _mm512_set1_epi32(-0x10000));
}

// What that leaves, rounded to BF16 in the upper half of each number.
__m512i Rest(__m512 x) {
  const __m512 rest = _mm512_sub_ps(x, _mm512_castsi512_ps(UpperHalf(x)));
  return _mm512_add_epi32(_mm512_castps_si512(rest), _mm512_set1_epi32(0x8000));
}

// The upper halves of two vectors: lane by lane, the first one's below.
__m512i Interleave(__m512i a, __m512i b) {
  return _mm512_ternarylogic_epi32(b, _mm512_set1_epi32(-0x10000), _mm512_srli_epi32(a, 16), 0xEA);
}

// The upper halves of two vectors, one vector after the other.
__m512i Join(__m512i a, __m512i b) {
  const __m512i odd = _mm512_add_epi16(
      _mm512_set1_epi16(1),
      _mm512_slli_epi16(_mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17,
                                         16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                        1));
  return _mm512_permutex2var_epi16(a, odd, b);
}

__m512 LoadCached(CacheFormat format, const uint8_t* at) {
  return format == CacheFormat::kF16 ? Registers::LoadF16(at) : Registers::LoadBF16(at);
}

// The keys of the cells that `used` names; of others, zeros.
void SplitKeys(const AttentionShape& shape, const uint8_t* cells, uint32_t used, const Split& to) {
  const int64_t line = Padded(shape.key_size) * 2;
  for (int64_t cell = 0; cell < kCells; ++cell) {
    const uint8_t* from = cells + static_cast<size_t>(cell) * shape.key_cell_stride;
    const bool here = (used >> cell & 1) != 0;
    for (int64_t i = 0; i < shape.key_size; i += kStep) {
      const bool both = i + 16 < shape.key_size;
      const __m512 a = here ? LoadCached(shape.format, from + i * 2) : _mm512_setzero_ps();
      const __m512 b =
          here && both ? LoadCached(shape.format, from + i * 2 + 32) : _mm512_setzero_ps();
      const int64_t at = cell * line + i * 2;
      _mm512_store_si512(to.first + at, Join(UpperHalf(a), UpperHalf(b)));
      if (shape.format == CacheFormat::kF16)
        _mm512_store_si512(to.second + at, Join(Rest(a), Rest(b)));
    }
  }
}

// The same of values, transposed: of each index, all cells.
void SplitValues(const AttentionShape& shape, const uint8_t* cells, uint32_t used,
                 const Split& to) {
  const auto load = [&](int64_t cell, int64_t d) {
    if ((used >> cell & 1) == 0) return _mm512_setzero_ps();
    return LoadCached(shape.format,
                      cells + static_cast<size_t>(cell) * shape.value_cell_stride + d * 2);
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
    if (shape.format == CacheFormat::kF16) {
      avx512::Transpose16(lines[1], reinterpret_cast<float*>(to.second + at), 16);
    }
  }
}

// Floats [count][kRows] as pairs of lines: [2 halves of rows][Padded(count) / 2][16 rows][2].
void SplitLines(const float* from, int64_t count, const Split& to) {
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

// Registers: sums 0 and 1 (16 lines, both halves of rows), 2 and 3 (16 more); 4 and 5 the lines; 6
// and 7 the rows. H halves of rows.
template <int H>
void Dots() {
  Dot<0, 4, 6>();
  Dot<2, 5, 6>();
  if constexpr (H == 2) {
    Dot<1, 4, 7>();
    Dot<3, 5, 7>();
  }
}

// Adds lines * rows over one step. `line_bytes`: from one line to the next; `half_bytes`: from the
// first half of the rows to the second. `more`: whether the lines have a second part.
template <int H>
void AddStep(const uint8_t* first, const uint8_t* second, int64_t line_bytes, bool more,
             const uint8_t* rows_first, const uint8_t* rows_second, int64_t half_bytes) {
  const auto load_lines = [&](const uint8_t* from) {
    Load<4>(from, line_bytes);
    Load<5>(from + 16 * line_bytes, line_bytes);
  };
  const auto load_rows = [&](const uint8_t* from) {
    Load<6>(from);
    if constexpr (H == 2) Load<7>(from + half_bytes);
  };
  load_lines(first);
  load_rows(rows_second);
  Dots<H>();
  load_rows(rows_first);
  Dots<H>();
  if (more) {
    load_lines(second);
    Dots<H>();
  }
}

template <int H>
void LoadSums(const float* from) {
  Load<0>(from, kLineBytes);
  Load<2>(from + 16 * kRows, kLineBytes);
  if constexpr (H == 2) {
    Load<1>(from + 16, kLineBytes);
    Load<3>(from + 16 * kRows + 16, kLineBytes);
  }
}

template <int H>
void StoreSums(float* to) {
  Store<0>(to, kLineBytes);
  Store<2>(to + 16 * kRows, kLineBytes);
  if constexpr (H == 2) {
    Store<1>(to + 16, kLineBytes);
    Store<3>(to + 16 * kRows + 16, kLineBytes);
  }
}

template <int H>
void AddBlock(const AttentionShape& shape, const Scratch& scratch, const float* mask,
              const AmxTile& tile) {
  const bool more = shape.format == CacheFormat::kF16;
  const int64_t padded = Padded(shape.key_size);
  Zero<0>();
  Zero<1>();
  Zero<2>();
  Zero<3>();
  for (int64_t i = 0; i < padded; i += kStep) {
    const int64_t rows = i / 2 * kTileWidth;
    AddStep<H>(scratch.keys.first + i * 2, scratch.keys.second + i * 2, padded * 2, more,
               tile.queries.first + rows, tile.queries.second + rows, padded / 2 * kTileWidth);
  }
  StoreSums<H>(scratch.scores);

  bool same = true;
  __m512 correction[H];
  const __m512 one = _mm512_set1_ps(1.0f);
  for (int h = 0; h < H; ++h) {
    correction[h] = simd::Softmax<Registers>(shape.scale, mask == nullptr ? nullptr : mask + h * 16,
                                             scratch.scores + h * 16, tile.floats.maximum + h * 16,
                                             tile.floats.sum + h * 16);
    same = same && _mm512_cmp_ps_mask(correction[h], one, _CMP_EQ_OQ) == 0xFFFF;
  }
  SplitLines(scratch.scores, kCells, scratch.weights);
  float* results = tile.floats.results;
  if (!same) {
    for (int64_t d = 0; d < shape.value_size; ++d) {
      for (int h = 0; h < H; ++h) {
        float* at = results + d * kRows + h * 16;
        _mm512_store_ps(at, _mm512_mul_ps(_mm512_load_ps(at), correction[h]));
      }
    }
  }
  for (int64_t d = 0; d < shape.value_size; d += 32) {
    // What lies behind the last value, where registers are not full, nobody reads.
    LoadSums<H>(results + d * kRows);
    const int64_t at = d * kCells * 2;
    AddStep<H>(scratch.values.first + at, scratch.values.second + at, kTileWidth, more,
               scratch.weights.first, scratch.weights.second, kCells / 2 * kTileWidth);
    StoreSums<H>(results + d * kRows);
  }
}

void Compute(const AttentionShape& shape, int threads, int64_t task, uint8_t* start) {
  using S = Registers;
  const KeepShapes keep;
  TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) shapes.Set(tile, 16, kTileWidth);
  UseShapes(shapes);
  Memory memory(start);
  const Scratch scratch = Divide(shape.key_size, shape.value_size, memory);
  const simd::AttentionTask<S> work(shape, threads, task);
  for (int64_t i = 0; i < work.tiles; ++i) {
    simd::StartTile<S>(shape, work.rows[i], scratch.tiles[i].floats);
    SplitLines(scratch.queries, shape.key_size, scratch.tiles[i].queries);
  }
  work.ForEachBlock(shape, [&](const simd::CacheBlock<S>& block) {
    SplitKeys(shape, block.keys, block.used, scratch.keys);
    SplitValues(shape, block.values, block.used, scratch.values);
    for (int64_t i = 0; i < work.tiles; ++i) {
      if (block.masks[i].used == 0) continue;
      const bool plain = block.masks[i].plain;
      if (!plain) simd::SpreadMask<S>(shape, work.rows[i], block.cell, scratch.mask);
      const auto add_block = work.rows[i].count > 16 ? AddBlock<2> : AddBlock<1>;
      add_block(shape, scratch, plain ? nullptr : scratch.mask, scratch.tiles[i]);
    }
  });
  for (int64_t i = 0; i < work.tiles; ++i) {
    simd::FinishTile<S>(shape, work.rows[i], scratch.tiles[i].floats);
  }
}

constexpr AttentionKernel kAttention{simd::Tasks<Registers>, ScratchBytes, Compute, 16};

}  // namespace

const AttentionKernel* Attention() { return &kAttention; }

}  // namespace oi::kernels::amx
