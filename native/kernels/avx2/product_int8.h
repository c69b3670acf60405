// Products of quantized weights on AVX2, for any way of adding up products of bytes (dots.h).
//
// 16 rows x Dots::kGroup columns of sums are computed side by side. Values are gone through in
// chunks whose weights fit the first cache; where there are more columns than one group, a chunk's
// quants are unpacked once for all of them.

#pragma once

#include <immintrin.h>

#include <algorithm>

#include "../product.h"
#include "../simd/formats.h"
#include "activations.h"
#include "coded_weights.h"
#include "dots.h"

namespace oi::kernels::avx2 {
namespace {  // sources for other instructions have their own

constexpr int64_t kChunkBlocks = 16;
constexpr int64_t kTilesAtOnce = 2;
constexpr int64_t kStepBytes = 64;
constexpr int64_t kBlockSteps = 8;

// Calls `body` with block % kPlaces as a constant: what shifts by constants is faster.
template <int kPlaces, class Body>
[[gnu::always_inline]] inline void AtPlace(int64_t block, const Body& body) {
  static_assert(kPlaces <= 8);
  const auto call = [&]<int kPlace>() __attribute__((always_inline)) {
    if constexpr (kPlace < kPlaces) body.template operator()<kPlace>();
  };
  switch (block % kPlaces) {
    case 0:
      return call.template operator()<0>();
    case 1:
      return call.template operator()<1>();
    case 2:
      return call.template operator()<2>();
    case 3:
      return call.template operator()<3>();
    case 4:
      return call.template operator()<4>();
    case 5:
      return call.template operator()<5>();
    case 6:
      return call.template operator()<6>();
    default:
      return call.template operator()<7>();
  }
}

// Steps of a chunk, unpacked: [block][kBlockSteps][kStepBytes].
class Unpacked {
 public:
  static constexpr int64_t kBytes = kChunkBlocks * kBlockSteps * kStepBytes;
  static constexpr int kPlaces = 1;

  Unpacked(const uint8_t* steps, int64_t first_block) : steps_(steps), first_(first_block) {}
  void At(int64_t block) { block_ = steps_ + (block - first_) * kBlockSteps * kStepBytes; }
  template <int>
  __m256i Step(int s, int v) const {
    return LoadStep(block_, s, v);
  }

  template <class W>
  static void Fill(W weights, int64_t begin, int64_t end, uint8_t* to) {
    for (int64_t block = begin; block < end; ++block) {
      weights.At(block);
      AtPlace<W::kPlaces>(block, [&]<int kPlace>() {
#pragma GCC unroll 8
        for (int s = 0; s < kBlockSteps; ++s) {
#pragma GCC unroll 2
          for (int v = 0; v < kVectors; ++v, to += 32) {
            _mm256_store_si256(reinterpret_cast<__m256i*>(to), weights.template Step<kPlace>(s, v));
          }
        }
      });
    }
  }

 private:
  const uint8_t* steps_;
  int64_t first_;
  const uint8_t* block_ = nullptr;
};

// What products with unpacked steps depend on: formats that differ in nothing else have the same.
template <int kOffsetOf, int kLargestOf, int kHalvesOf, int kMinsOf>
struct Shape {
  static constexpr int kOffset = kOffsetOf;
  static constexpr int kLargest = kLargestOf;
  static constexpr int kHalves = kHalvesOf;
  static constexpr int kMins = kMinsOf;
};

constexpr int UpTo(int largest) {
  return largest <= 15 ? 15 : largest <= 31 ? 31 : largest <= 63 ? 63 : largest <= 127 ? 127 : 255;
}

template <class W>
using ShapeOf = Shape<W::kLargest == 255 ? W::kOffset : W::kOffset != 0, UpTo(W::kLargest),
                      W::kHalves, W::kMins>;

template <class W>
constexpr int64_t kScales = W::kHalves*(1 + W::kMins) * kTileRows;

// One tile x C columns, blocks begin to end. `scales` [block][kHalves + kMins][kTileRows].
// `continued`: adds to what the results hold.
template <class W, class Dots, int C, class Source>
void Compute(Source source, const float* scales, const uint8_t* group, int64_t begin, int64_t end,
             float* const* results, int64_t row, bool continued) {
  __m256 sums[kVectors][C];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      sums[v][c] = continued ? _mm256_loadu_ps(results[c] + row + v * 8) : _mm256_setzero_ps();
    }
  }

  for (int64_t block = begin; block < end; ++block, scales += kScales<W>) {
    const auto* quants = reinterpret_cast<const int32_t*>(group + block * C * kRecordBytes);
    const auto* column_scales = reinterpret_cast<const float*>(quants + 8 * C);
    const int32_t* starts = quants + 9 * C;
    source.At(block);
    __m256 products[kVectors][C];
#pragma GCC unroll 2
    for (int half = 0; half < W::kHalves; ++half) {
      __m256i dots[kVectors][C];
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const __m256i start =
            Dots::kOffset == 0 ? _mm256_setzero_si256() : _mm256_set1_epi32(starts[half * C + c]);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) dots[v][c] = start;
      }
      constexpr int kSteps = kBlockSteps / W::kHalves;
      AtPlace<Source::kPlaces>(
          block, [&]<int kPlace>() __attribute__((always_inline)) {
            Dots::template Add<kPlace, kSteps>(source, half * kSteps, quants, dots);
          });
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        const __m256 scale = _mm256_load_ps(scales + half * kTileRows + v * 8);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) {
          const __m256 dot = _mm256_cvtepi32_ps(dots[v][c]);
          products[v][c] =
              half == 0 ? _mm256_mul_ps(dot, scale) : _mm256_fmadd_ps(dot, scale, products[v][c]);
        }
      }
    }
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const __m256 scale = _mm256_set1_ps(column_scales[c]);
        sums[v][c] = _mm256_fmadd_ps(products[v][c], scale, sums[v][c]);
#pragma GCC unroll 2
        for (int i = 0; i < W::kMins; ++i) {
          const __m256 min = _mm256_load_ps(scales + (W::kHalves + i) * kTileRows + v * 8);
          const auto* scaled_sums = reinterpret_cast<const float*>(starts + SumsAt<W>(i) * C);
          sums[v][c] = _mm256_fnmadd_ps(min, _mm256_set1_ps(scaled_sums[c]), sums[v][c]);
        }
      }
    }
  }

#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) _mm256_storeu_ps(results[c] + row + v * 8, sums[v][c]);
  }
}

template <class Source>
using ComputeFunction = void (*)(Source source, const float* scales, const uint8_t* group,
                                 int64_t begin, int64_t end, float* const* results, int64_t row,
                                 bool continued);

// By width - 1; a group is at most 6 wide.
template <class W, class Dots, class Source>
constexpr ComputeFunction<Source> kCompute[] = {
    Compute<W, Dots, 1>,
    Compute<W, Dots, 2>,
    Compute<W, Dots, 3>,
    Compute<W, Dots, 4>,
    Compute<W, Dots, std::min<int>(5, Dots::kGroup)>,
    Compute<W, Dots, std::min<int>(6, Dots::kGroup)>,
};

// DotsOf<W>: the dots for a format, or for a shape.
template <class W, template <class> class DotsOf>
void Multiply(const uint8_t* tiles, int64_t k, int64_t begin, int64_t end,
              const uint8_t* activations, int64_t columns, float* const* results) {
  using Dots = DotsOf<W>;
  using DotsOfShape = DotsOf<ShapeOf<W>>;
  static_assert(DotsOfShape::kGroup == Dots::kGroup);
  const size_t tile_bytes = TileBytes(W::kFormat, k);
  const int64_t blocks = k / kBlock;
  const int64_t column_bytes = blocks * kRecordBytes;
  const bool unpack = columns > W::kUnpackAbove;
  alignas(64) float scales[kTilesAtOnce][kChunkBlocks * kScales<W>];
  alignas(64) uint8_t unpacked[kTilesAtOnce][Unpacked::kBytes];
  for (int64_t tile = begin; tile < end; tile += kTilesAtOnce) {
    const int64_t count = std::min(kTilesAtOnce, end - tile);
    for (int64_t chunk = 0; chunk < blocks; chunk += kChunkBlocks) {
      const int64_t chunk_end = std::min(blocks, chunk + kChunkBlocks);
      for (int64_t i = 0; i < count; ++i) {
        const W weights(tiles + static_cast<size_t>(tile + i) * tile_bytes, k);
        weights.Scales(chunk, chunk_end, scales[i]);
        if constexpr (W::kUnpackAbove != kNeverUnpack) {
          if (unpack) Unpacked::Fill(weights, chunk, chunk_end, unpacked[i]);
        }
      }
      for (int64_t column = 0; column < columns; column += Dots::kGroup) {
        const int64_t width = std::min<int64_t>(Dots::kGroup, columns - column);
        const uint8_t* group = activations + column * column_bytes;
        for (int64_t i = 0; i < count; ++i) {
          const int64_t row = (tile + i) * kTileRows;
          if constexpr (W::kUnpackAbove != kNeverUnpack) {
            if (unpack) {
              const Unpacked source(unpacked[i], chunk);
              kCompute<ShapeOf<W>, DotsOfShape, Unpacked>[width - 1](
                  source, scales[i], group, chunk, chunk_end, results + column, row, chunk > 0);
              continue;
            }
          }
          if constexpr (W::kUnpackAbove != kAlwaysUnpack) {
            const W source(tiles + static_cast<size_t>(tile + i) * tile_bytes, k);
            kCompute<W, Dots, W>[width - 1](source, scales[i], group, chunk, chunk_end,
                                            results + column, row, chunk > 0);
          }
        }
      }
    }
  }
}

template <class W, template <class> class DotsOf>
constexpr ProductKernel kInt8Product{DotsOf<W>::kGroup,          ActivationBytes,
                                     Convert<W, DotsOf<W>>,      Multiply<W, DotsOf>,
                                     /*multiply_gated=*/nullptr,
                                     /*rounds_weights=*/false,   Residual};

template <template <class> class DotsOf>
const ProductKernel* FindInt8Product(Format format) {
  return simd::FindWeights<Weights>(
      format, []<class W>() -> const ProductKernel* { return &kInt8Product<W, DotsOf>; });
}

}  // namespace
}  // namespace oi::kernels::avx2
