// Products of quantized weights on AVX-512 VNNI.
//
// Activations are quantized to 8 bits with a scale for each 32 values. `vpdpbusd` multiplies
// unsigned by signed bytes, so weights carry an offset; taking it off again, -offset * sum of the
// activations, is where the integer sums start and costs nothing. 32 rows x W::kGroup columns of
// sums stay in registers.

#include <immintrin.h>

#include <algorithm>

#include "../simd/formats.h"
#include "activations.h"
#include "kernels.h"
#include "weights.h"

namespace oi::kernels::avx512 {
namespace {

// Of 4096 values, tiles and activations stay in the second cache. Shorter chunks, whose weights
// stay in the first, add to the results more often: they lie apart in memory, which costs more.
constexpr int64_t kChunkBlocks = 128;

// A chunk of a tile, unpacked: [block][step][kTileRows][4], each a byte. Formats that differ in
// nothing but how they are unpacked have the same type of it.
template <bool kOff, int kHalvesOf, int kMinsOf>
class Unpacked {
 public:
  static constexpr int kOffset = kOff ? 1 : 0;
  static constexpr int kHalves = kHalvesOf;
  static constexpr int kMins = kMinsOf;
  static constexpr int kGroup = 6;

  Unpacked(const uint8_t* chunk, int64_t) : chunk_(chunk) {}
  void At(int64_t block) { step_ = chunk_ + Place(block); }
  __m512i Step(int s) const { return LoadStep(step_ + s * 64); }

  template <class W>
  static void Fill(W tile, int64_t begin, int64_t end, uint8_t* to) {
    static_assert(W::kGroup == kGroup);
    for (int64_t block = begin; block < end; ++block) {
      tile.At(block);
#pragma GCC unroll 8
      for (int s = 0; s < 8; ++s) _mm512_store_si512(to + Place(block) + s * 64, tile.Step(s));
    }
  }

 private:
  static int64_t Place(int64_t block) { return block % kChunkBlocks * kTileRows * kBlock; }

  const uint8_t* chunk_;
  const uint8_t* step_ = nullptr;
};

template <class W>
using UnpackedOf = Unpacked<W::kOffset != 0, W::kHalves, W::kMins>;

// Of a thread, for a pair of tiles; stacks may be small.
struct Room {
  static constexpr int64_t kUnpacked = kChunkBlocks * kTileRows * kBlock;
  static constexpr int64_t kMostScales = 3;  // of a block and row

  alignas(64) uint8_t unpacked[2 * kUnpacked];
  alignas(64) float scales[kChunkBlocks * 2 * kMostScales * kTileRows];
};
thread_local Room room;

template <class W>
void Convert(const float* const* columns, int64_t width, int64_t, int64_t begin, int64_t end,
             uint8_t* group_start) {
  for (int64_t c = 0; c < width; ++c) {
    for (int64_t at = begin; at < end; at += kSuperBlock) {
      const int64_t count = std::min(kSuperBlock, end - at) / kBlock;
      QuantizeBlocks<W>(columns[c] + at, count, group_start + at / kBlock * width * kRecordBytes,
                        width, c);
    }
  }
}

// Of a chunk and a pair of tiles: [block][tile][W::kHalves + W::kMins][kTileRows].
template <class W>
constexpr int64_t kScales = W::kHalves*(1 + W::kMins) * kTileRows;
template <class W>
using ChunkScales = float[kChunkBlocks * 2 * kScales<W>];

// R tiles x C columns, blocks begin to end. `continued`: adds to what the results hold.
template <class W, int R, int C>
void Compute(const uint8_t* tiles, int64_t k, size_t tile_bytes, const float* scales,
             const uint8_t* group, int64_t begin, int64_t end, float* const* results, int64_t row,
             bool continued) {
  W weights[] = {W(tiles, k), W(tiles + (R - 1) * tile_bytes, k)};  // the second unused if R is 1
  __m512 sums[R][C];
#pragma GCC unroll 2
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      sums[r][c] =
          continued ? _mm512_loadu_ps(results[c] + row + r * kTileRows) : _mm512_setzero_ps();
    }
  }

  for (int64_t block = begin; block < end; ++block, scales += 2 * kScales<W>) {
    const uint8_t* record = group + block * C * kRecordBytes;
    const auto* quants = reinterpret_cast<const int32_t*>(record);
    const auto* column_scales = reinterpret_cast<const float*>(record + 32 * C);
    const auto* starts = reinterpret_cast<const int32_t*>(record + 36 * C);
#pragma GCC unroll 2
    for (int r = 0; r < R; ++r) weights[r].At(block);
    __m512 products[R][C];
#pragma GCC unroll 2
    for (int half = 0; half < W::kHalves; ++half) {
      __m512i dots[R][C];
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const __m512i start =
            W::kOffset == 0 ? _mm512_setzero_si512() : _mm512_set1_epi32(starts[half * C + c]);
#pragma GCC unroll 2
        for (int r = 0; r < R; ++r) dots[r][c] = start;
      }
      constexpr int kSteps = 8 / W::kHalves;
#pragma GCC unroll 8
      for (int i = 0; i < kSteps; ++i) {
        const int s = half * kSteps + i;
        __m512i step[R];
#pragma GCC unroll 2
        for (int r = 0; r < R; ++r) step[r] = weights[r].Step(s);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) {
          const __m512i activations = _mm512_set1_epi32(quants[s * C + c]);
#pragma GCC unroll 2
          for (int r = 0; r < R; ++r) {
            dots[r][c] = _mm512_dpbusd_epi32(dots[r][c], step[r], activations);
          }
        }
      }
#pragma GCC unroll 2
      for (int r = 0; r < R; ++r) {
        const __m512 scale = _mm512_load_ps(scales + r * kScales<W> + half * kTileRows);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) {
          const __m512 dot = _mm512_cvtepi32_ps(dots[r][c]);
          products[r][c] =
              half == 0 ? _mm512_mul_ps(dot, scale) : _mm512_fmadd_ps(dot, scale, products[r][c]);
        }
      }
    }
#pragma GCC unroll 2
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const __m512 scale = _mm512_set1_ps(column_scales[c]);
        sums[r][c] = _mm512_fmadd_ps(products[r][c], scale, sums[r][c]);
      }
#pragma GCC unroll 2
      for (int i = 0; i < W::kMins; ++i) {
        const auto* scaled_sums = reinterpret_cast<const float*>(starts + SumsAt<W>(i) * C);
        const __m512 min = _mm512_load_ps(scales + r * kScales<W> + (W::kHalves + i) * kTileRows);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) {
          sums[r][c] = _mm512_fnmadd_ps(min, _mm512_set1_ps(scaled_sums[c]), sums[r][c]);
        }
      }
    }
  }

#pragma GCC unroll 2
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      _mm512_storeu_ps(results[c] + row + r * kTileRows, sums[r][c]);
    }
  }
}

using ComputeFunction = void (*)(const uint8_t* tiles, int64_t k, size_t tile_bytes,
                                 const float* scales, const uint8_t* group, int64_t begin,
                                 int64_t end, float* const* results, int64_t row, bool continued);

// By width - 1.
template <class W, int R>
constexpr ComputeFunction kCompute[] = {
    Compute<W, R, 1>, Compute<W, R, 2>, Compute<W, R, 3>,
    Compute<W, R, 4>, Compute<W, R, 5>, Compute<W, R, W::kGroup>,
};

// A chunk of R tiles with all columns. Weights: W, or UnpackedOf<W>.
template <class Weights, int R>
void MultiplyChunk(const uint8_t* tiles, int64_t k, size_t tile_bytes, const float* scales,
                   int64_t begin, int64_t end, const uint8_t* activations, int64_t columns,
                   float* const* results, int64_t row) {
  const auto group_bytes = static_cast<int64_t>(ActivationBytes(k, 1));
  for (int64_t column = 0; column < columns; column += Weights::kGroup) {
    const int64_t width = std::min<int64_t>(Weights::kGroup, columns - column);
    kCompute<Weights, R>[width - 1](tiles, k, tile_bytes, scales,
                                    activations + column * group_bytes, begin, end,
                                    results + column, row, begin > 0);
  }
}

template <class W, int R>
void MultiplyTiles(const uint8_t* tiles, int64_t k, const uint8_t* activations, int64_t columns,
                   float* const* results, int64_t row) {
  static_assert(W::kHalves + W::kMins <= Room::kMostScales);
  const size_t tile_bytes = TileBytes(W::kFormat, k);
  const int64_t blocks = k / kBlock;
  // The shifts would take turns with the products in every group of columns.
  const bool unpack = columns > W::kUnpackAbove;
  for (int64_t begin = 0; begin < blocks; begin += kChunkBlocks) {
    const int64_t end = std::min(blocks, begin + kChunkBlocks);
    for (int r = 0; r < R; ++r) {
      const W tile(tiles + static_cast<size_t>(r) * tile_bytes, k);
      float* to = room.scales + r * kScales<W>;
      for (int64_t block = begin; block < end; ++block, to += 2 * kScales<W>) {
        tile.Scales(block, to);
      }
      if constexpr (W::kUnpackAbove != kNeverUnpack) {
        uint8_t* unpacked = room.unpacked + r * Room::kUnpacked;
        if (unpack) UnpackedOf<W>::Fill(tile, begin, end, unpacked);
      }
    }
    if constexpr (W::kUnpackAbove != kNeverUnpack) {
      if (unpack) {
        MultiplyChunk<UnpackedOf<W>, R>(room.unpacked, k, Room::kUnpacked, room.scales, begin, end,
                                        activations, columns, results, row);
        continue;
      }
    }
    if constexpr (W::kUnpackAbove != kAlwaysUnpack) {
      MultiplyChunk<W, R>(tiles, k, tile_bytes, room.scales, begin, end, activations, columns,
                          results, row);
    }
  }
}

template <class W>
void Multiply(const uint8_t* tiles, int64_t k, int64_t begin, int64_t end,
              const uint8_t* activations, int64_t columns, float* const* results) {
  for (int64_t tile = begin; tile < end; tile += 2) {
    const uint8_t* pair = tiles + static_cast<size_t>(tile) * TileBytes(W::kFormat, k);
    if (end - tile >= 2) {
      MultiplyTiles<W, 2>(pair, k, activations, columns, results, tile * kTileRows);
    } else {
      MultiplyTiles<W, 1>(pair, k, activations, columns, results, tile * kTileRows);
    }
  }
}

template <class W>
constexpr ProductKernel kKernel{W::kGroup,
                                ActivationBytes,
                                Convert<W>,
                                Multiply<W>,
                                /*multiply_gated=*/nullptr,
                                /*rounds_weights=*/false,
                                Residual};

}  // namespace

const ProductKernel* Int8Product(Format format) {
  return simd::FindWeights<Weights>(format,
                                    []<class W>() -> const ProductKernel* { return &kKernel<W>; });
}

}  // namespace oi::kernels::avx512
