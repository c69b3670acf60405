// The weight formats that have kernels, and the memory layout of their tiles.
//
// A tile is kTileRows rows of a weight matrix. It takes exactly the bytes that these rows take in a
// GGUF file, so weights are converted in place of being copied, and n tiles into a tensor is 16 n
// rows into it. Inside, the tile's planes follow one another, each for the whole length k of a row;
// "step" s of a plane is 64 bytes, 4 from each of the 16 rows, rows in order: one vector register.
//
//   Q8_0   step = 4 quants + 128 of each row (k/4 steps) | fp16 scales [k/32][16]
//   Q4_0   step = 4 bytes of each row's nibbles (k/8)    | fp16 scales [k/32][16]
//   Q4_K   nibbles (k/8 steps) | per 256: fp16 d[16], fp16 dmin[16], 12 scale bytes x [16]
//   Q5_K   nibbles (k/8 steps) | high bits (k/32 steps) | as Q4_K
//   Q6_K   nibbles (k/8 steps) | high bit pairs (k/16 steps) | per 256: fp16 d[16], int8 scales
//          [16 sub-blocks][16]
//   BF16   step = 2 values of each row (k/2 steps)
//   F16    half a step = 1 value of each row (k half steps)
//   F32    step = 1 value of each row (k steps)
//   others planes as simd/plain_weights.h, tabled_weights.h and grid_weights.h say
//
// Which quants share a byte, a step's bits, is the file format's own order.

#pragma once

#include <cstddef>
#include <cstdint>

namespace oi::kernels {

constexpr int64_t kTileRows = 16;
constexpr int64_t kBlock = 32;        // values that share an activation scale
constexpr int64_t kSuperBlock = 256;  // of the K formats

enum class Format {
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ1_S,
  kIQ1_M,
  kIQ2_XXS,
  kIQ2_XS,
  kIQ2_S,
  kIQ3_XXS,
  kIQ3_S,
  kIQ4_NL,
  kIQ4_XS,
  kMXFP4,
  kNVFP4,
  kTQ2_0,
  kBF16,
  kF16,
  kF32,
};

// Values that lie together in a file, and their bytes.
struct FileBlock {
  int64_t values;
  size_t bytes;
};

constexpr FileBlock FileBlockOf(Format format) {
  switch (format) {
    case Format::kQ8_0:
      return {32, 34};
    case Format::kQ4_0:
    case Format::kIQ4_NL:
      return {32, 18};
    case Format::kQ4_1:
      return {32, 20};
    case Format::kQ5_0:
      return {32, 22};
    case Format::kQ5_1:
      return {32, 24};
    case Format::kMXFP4:
      return {32, 17};
    case Format::kNVFP4:
      return {64, 36};
    case Format::kQ2_K:
      return {kSuperBlock, 84};
    case Format::kQ3_K:
    case Format::kIQ3_S:
      return {kSuperBlock, 110};
    case Format::kQ4_K:
      return {kSuperBlock, 144};
    case Format::kQ5_K:
      return {kSuperBlock, 176};
    case Format::kQ6_K:
      return {kSuperBlock, 210};
    case Format::kIQ1_S:
      return {kSuperBlock, 50};
    case Format::kIQ1_M:
      return {kSuperBlock, 56};
    case Format::kIQ2_XXS:
    case Format::kTQ2_0:
      return {kSuperBlock, 66};
    case Format::kIQ2_XS:
      return {kSuperBlock, 74};
    case Format::kIQ2_S:
      return {kSuperBlock, 82};
    case Format::kIQ3_XXS:
      return {kSuperBlock, 98};
    case Format::kIQ4_XS:
      return {kSuperBlock, 136};
    case Format::kBF16:
    case Format::kF16:
      return {1, 2};
    case Format::kF32:
      return {1, 4};
  }
  return {1, 0};
}

// What the length of a row must be a multiple of, so that the planes of quants start a cache line.
constexpr int64_t LengthUnit(Format format) {
  const int64_t values = FileBlockOf(format).values;
  return values < 2 * kBlock ? 2 * kBlock : values;
}

// Bytes of one row of k values, in a file and in a tile.
constexpr size_t RowBytes(Format format, int64_t k) {
  const FileBlock block = FileBlockOf(format);
  return static_cast<size_t>(k / block.values) * block.bytes;
}

constexpr size_t TileBytes(Format format, int64_t k) {
  return RowBytes(format, k) * static_cast<size_t>(kTileRows);
}

constexpr int64_t TilesOf(int64_t rows) { return (rows + kTileRows - 1) / kTileRows; }

// Converts `rows` rows of `k` values (a multiple of LengthUnit()) as they lie in a GGUF file into
// TilesOf(rows) tiles; what the last one lacks are zeros. `source` and `tiles` must not overlap.
void PackTiles(Format format, int64_t rows, int64_t k, const void* source, void* tiles);

}  // namespace oi::kernels
