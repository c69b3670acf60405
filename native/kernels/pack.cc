// From the rows of a GGUF file to tiles (format.h). Plain C++: loading a file costs more.

#include <cstring>

#include "format.h"

namespace oi::kernels {
namespace {

constexpr size_t kStep = 64;

// Lays `count` bytes of one row out as steps: 4 bytes to each, at the row's place in it.
void Spread(const uint8_t* bytes, int64_t count, int64_t row, uint8_t* plane) {
  for (int64_t i = 0; i < count; i += 4) {
    std::memcpy(plane + static_cast<size_t>(i / 4) * kStep + row * 4, bytes + i, 4);
  }
}

// `count` bytes of one row, each beside those of the other rows.
void Beside(const uint8_t* bytes, int64_t count, int64_t row, uint8_t* plane) {
  for (int64_t i = 0; i < count; ++i) plane[i * kTileRows + row] = bytes[i];
}

void PackQ8_0(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* scales = tile + kTileRows * k;
  for (int64_t block = 0; block < k / 32; ++block, source += 34) {
    std::memcpy(scales + (block * kTileRows + row) * 2, source, 2);
    uint8_t quants[32];
    // Two's complement plus 128: the top bit flipped.
    for (int i = 0; i < 32; ++i) quants[i] = source[2 + i] ^ 0x80;
    Spread(quants, 32, row, tile + block * 8 * kStep);
  }
}

// Blocks of 32 values: `halfs` numbers of 16 bits, high bits in Q5, nibbles.
template <int kHalfs, bool kHigh>
void PackNibbles(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* high = tile + kTileRows * k / 2;
  uint8_t* halfs = high + (kHigh ? kTileRows * k / 8 : 0);
  for (int64_t block = 0; block < k / 32; ++block) {
    for (int i = 0; i < kHalfs; ++i, source += 2) {
      std::memcpy(halfs + ((block * kHalfs + i) * kTileRows + row) * 2, source, 2);
    }
    if (kHigh) {
      // From bit i for value i to bit s of byte b for value 4 s + b.
      uint8_t bits[4] = {};
      for (int i = 0; i < 32; ++i) {
        bits[i % 4] = static_cast<uint8_t>(bits[i % 4] | (source[i / 8] >> i % 8 & 1) << i / 4);
      }
      Spread(bits, 4, row, high + block * kStep);
      source += 4;
    }
    Spread(source, 16, row, tile + block * 4 * kStep);
    source += 16;
  }
}

void PackMXFP4(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* scales = tile + kTileRows * k / 2;
  for (int64_t block = 0; block < k / 32; ++block, source += 17) {
    scales[block * kTileRows + row] = source[0];
    Spread(source + 1, 16, row, tile + block * 4 * kStep);
  }
}

void PackNVFP4(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* scales = tile + kTileRows * k / 2;
  for (int64_t block = 0; block < k / 64; ++block, source += 36) {
    Beside(source, 4, row, scales + block * 4 * kTileRows);
    Spread(source + 4, 32, row, tile + block * 8 * kStep);
  }
}

// The scales of Q4_K and Q5_K: d, dmin, 12 bytes.
void PackScalesAndMins(int64_t row, const uint8_t* source, uint8_t* scales) {
  std::memcpy(scales + row * 2, source, 2);
  std::memcpy(scales + 32 + row * 2, source + 2, 2);
  Beside(source + 4, 12, row, scales + 64);
}

void PackQ4_K(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* scales = tile + kTileRows * k / 2;
  for (int64_t block = 0; block < k / 256; ++block, source += 144) {
    PackScalesAndMins(row, source, scales + block * 256);
    Spread(source + 16, 128, row, tile + block * 32 * kStep);
  }
}

void PackQ5_K(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* high = tile + kTileRows * k / 2;
  uint8_t* scales = high + kTileRows * k / 8;
  for (int64_t block = 0; block < k / 256; ++block, source += 176) {
    PackScalesAndMins(row, source, scales + block * 256);
    Spread(source + 16, 32, row, high + block * 8 * kStep);
    Spread(source + 48, 128, row, tile + block * 32 * kStep);
  }
}

void PackQ6_K(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* high = tile + kTileRows * k / 2;
  uint8_t* scales = high + kTileRows * k / 4;
  for (int64_t block = 0; block < k / 256; ++block, source += 210, scales += 288) {
    Spread(source, 128, row, tile + block * 32 * kStep);
    Spread(source + 128, 64, row, high + block * 16 * kStep);
    std::memcpy(scales + row * 2, source + 208, 2);
    Beside(source + 192, 16, row, scales + 32);
  }
}

void PackQ2_K(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* scales = tile + kTileRows * k / 4;
  for (int64_t block = 0; block < k / 256; ++block, source += 84, scales += 320) {
    Spread(source + 16, 64, row, tile + block * 16 * kStep);
    std::memcpy(scales + row * 2, source + 80, 2);
    std::memcpy(scales + 32 + row * 2, source + 82, 2);
    Beside(source, 16, row, scales + 64);
  }
}

void PackQ3_K(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* high = tile + kTileRows * k / 4;
  uint8_t* scales = high + kTileRows * k / 8;
  for (int64_t block = 0; block < k / 256; ++block, source += 110, scales += 224) {
    Spread(source, 32, row, high + block * 8 * kStep);
    Spread(source + 32, 64, row, tile + block * 16 * kStep);
    std::memcpy(scales + row * 2, source + 108, 2);
    Beside(source + 96, 12, row, scales + 32);
  }
}

void PackTQ2_0(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* scales = tile + kTileRows * k / 4;
  for (int64_t block = 0; block < k / 256; ++block, source += 66, scales += 32) {
    Spread(source, 64, row, tile + block * 16 * kStep);
    std::memcpy(scales + row * 2, source + 64, 2);
  }
}

void PackIQ4_XS(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* scales = tile + kTileRows * k / 2;
  for (int64_t block = 0; block < k / 256; ++block, source += 136, scales += 128) {
    std::memcpy(scales + row * 2, source, 2);
    Beside(source + 2, 6, row, scales + 32);
    Spread(source + 8, 128, row, tile + block * 32 * kStep);
  }
}

// Of the IQ formats: what lies in steps, of each block of 32 values some bytes at one or two places
// of the super-block, and behind all steps d and the bytes of scales.
struct GridLayout {
  int64_t bytes;  // of a super-block
  int64_t first;  // where the first of a block's steps is, and how many bytes a block has of it
  int64_t first_size;
  int64_t second;  // the same of those behind it
  int64_t second_size;
  int64_t scales;  // where bytes of scales are, and how many
  int64_t scales_size;
};

template <GridLayout kLayout>
void PackGrid(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  constexpr int64_t kBlockBytes = (kLayout.first_size + kLayout.second_size) * kTileRows;
  uint8_t* scales = tile + k / kBlock * kBlockBytes;
  for (int64_t super = 0; super < k / 256; ++super, source += kLayout.bytes) {
    for (int64_t block = 0; block < 8; ++block, tile += kBlockBytes) {
      Spread(source + kLayout.first + block * kLayout.first_size, kLayout.first_size, row, tile);
      Spread(source + kLayout.second + block * kLayout.second_size, kLayout.second_size, row,
             tile + kLayout.first_size * kTileRows);
    }
    std::memcpy(scales + row * 2, source, 2);
    Beside(source + kLayout.scales, kLayout.scales_size, row, scales + 32);
    scales += 32 + kLayout.scales_size * kTileRows;
  }
}

constexpr GridLayout kIQ1_S{50, 2, 4, 0, 0, 34, 16};
constexpr GridLayout kIQ2_XXS{66, 2, 8, 0, 0, 0, 0};
constexpr GridLayout kIQ2_XS{74, 2, 8, 0, 0, 66, 8};
constexpr GridLayout kIQ2_S{82, 2, 4, 34, 4, 66, 16};
constexpr GridLayout kIQ3_XXS{98, 2, 8, 66, 4, 0, 0};

// High bits and scales lie apart.
void PackIQ3_S(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* scales = tile + kTileRows * k / 8 * 3;
  for (int64_t super = 0; super < k / 256; ++super, source += 110, scales += 224) {
    for (int64_t block = 0; block < 8; ++block, tile += 3 * kStep) {
      Spread(source + 2 + block * 8, 8, row, tile);
      Spread(source + 74 + block * 4, 4, row, tile + 2 * kStep);
    }
    std::memcpy(scales + row * 2, source, 2);
    Beside(source + 66, 8, row, scales + 32);
    Beside(source + 106, 4, row, scales + 160);
  }
}

// Each of the 16-bit numbers with scales has 4 bits of d on top.
void PackIQ1_M(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* scales = tile + kTileRows * k / 8;
  for (int64_t super = 0; super < k / 256; ++super, source += 56, scales += 384) {
    for (int64_t block = 0; block < 8; ++block, tile += kStep) {
      Spread(source + block * 4, 4, row, tile);
    }
    uint16_t d = 0;
    uint64_t all = 0;
    for (int i = 0; i < 4; ++i) {
      uint16_t part = 0;
      std::memcpy(&part, source + 48 + i * 2, 2);
      d = static_cast<uint16_t>(d | (part >> 12) << i * 4);
      all |= static_cast<uint64_t>(part & 0x0FFF) << i * 12;
    }
    uint8_t bytes[8];
    std::memcpy(bytes, &all, 8);
    std::memcpy(scales + row * 2, &d, 2);
    Beside(source + 32, 16, row, scales + 32);
    Beside(bytes, 6, row, scales + 288);
  }
}

template <int64_t kBytes>
void PackNumbers(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  Spread(source, k * kBytes, row, tile);
}

void PackF16(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  for (int64_t i = 0; i < k; ++i) std::memcpy(tile + (i * kTileRows + row) * 2, source + i * 2, 2);
}

using PackRow = void (*)(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile);

PackRow RowPacker(Format format) {
  switch (format) {
    case Format::kQ8_0:
      return PackQ8_0;
    case Format::kQ4_0:
    case Format::kIQ4_NL:
      return PackNibbles<1, false>;
    case Format::kQ4_1:
      return PackNibbles<2, false>;
    case Format::kQ5_0:
      return PackNibbles<1, true>;
    case Format::kQ5_1:
      return PackNibbles<2, true>;
    case Format::kMXFP4:
      return PackMXFP4;
    case Format::kNVFP4:
      return PackNVFP4;
    case Format::kQ2_K:
      return PackQ2_K;
    case Format::kQ3_K:
      return PackQ3_K;
    case Format::kQ4_K:
      return PackQ4_K;
    case Format::kQ5_K:
      return PackQ5_K;
    case Format::kQ6_K:
      return PackQ6_K;
    case Format::kTQ2_0:
      return PackTQ2_0;
    case Format::kIQ1_S:
      return PackGrid<kIQ1_S>;
    case Format::kIQ1_M:
      return PackIQ1_M;
    case Format::kIQ2_XXS:
      return PackGrid<kIQ2_XXS>;
    case Format::kIQ2_XS:
      return PackGrid<kIQ2_XS>;
    case Format::kIQ2_S:
      return PackGrid<kIQ2_S>;
    case Format::kIQ3_XXS:
      return PackGrid<kIQ3_XXS>;
    case Format::kIQ3_S:
      return PackIQ3_S;
    case Format::kIQ4_XS:
      return PackIQ4_XS;
    case Format::kBF16:
      return PackNumbers<2>;
    case Format::kF16:
      return PackF16;
    case Format::kF32:
      return PackNumbers<4>;
  }
  return nullptr;
}

}  // namespace

void PackTiles(Format format, int64_t rows, int64_t k, const void* source, void* tiles) {
  const PackRow pack = RowPacker(format);
  const auto* from = static_cast<const uint8_t*>(source);
  auto* to = static_cast<uint8_t*>(tiles);
  const size_t tile = TileBytes(format, k);
  const auto whole = static_cast<size_t>(rows / kTileRows);
  if (rows % kTileRows != 0) std::memset(to + whole * tile, 0, tile);
  for (int64_t row = 0; row < rows; ++row, from += RowBytes(format, k)) {
    pack(row % kTileRows, k, from, to + static_cast<size_t>(row / kTileRows) * tile);
  }
}

}  // namespace oi::kernels
