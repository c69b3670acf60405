// Attention (../simd/attention.h) with its products in tile registers.
//
// Numbers are split into two of BF16, of which the first holds the upper 8 bits and the second what
// is left: all of a cached F16, 16 bits of a float. Products of the first with both of the other
// side lose 2^-16; one BF16 alone would lose 2^-9, which a logit shows. Softmax is that of vectors.

#include "../simd/attention.h"

#include "kernels.h"
#include "split.h"
#include "tiles.h"

namespace oi::kernels::amx {
namespace {

using simd::AttentionRows;
using simd::BlockMask;
using simd::kCells;

constexpr int64_t kLineBytes = kRows * 4;  // of scores and results

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
  const bool more = HasRest(shape.format);
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
    SplitKeys(shape, block.keys, scratch.keys);
    SplitValues(shape, block.values, scratch.values);
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

constexpr AttentionKernel kAttention{simd::Tasks<Registers>,
                                     simd::Tokens<Registers>,
                                     simd::Look<Registers>,
                                     ScratchBytes,
                                     Compute,
                                     16,
                                     /*pairs=*/true};

}  // namespace

const AttentionKernel* Attention() { return &kAttention; }

}  // namespace oi::kernels::amx
