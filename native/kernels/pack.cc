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

void PackQ4_0(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  uint8_t* scales = tile + kTileRows * k / 2;
  for (int64_t block = 0; block < k / 32; ++block, source += 18) {
    std::memcpy(scales + (block * kTileRows + row) * 2, source, 2);
    Spread(source + 2, 16, row, tile + block * 4 * kStep);
  }
}

// The scales of Q4_K and Q5_K: d, dmin, 12 bytes.
void PackScalesAndMins(int64_t row, const uint8_t* source, uint8_t* scales) {
  std::memcpy(scales + row * 2, source, 2);
  std::memcpy(scales + 32 + row * 2, source + 2, 2);
  for (int i = 0; i < 12; ++i) scales[64 + i * kTileRows + row] = source[4 + i];
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
    for (int i = 0; i < 16; ++i) scales[32 + i * kTileRows + row] = source[192 + i];
  }
}

void PackBF16(int64_t row, int64_t k, const uint8_t* source, uint8_t* tile) {
  Spread(source, k * 2, row, tile);
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
      return PackQ4_0;
    case Format::kQ4_K:
      return PackQ4_K;
    case Format::kQ5_K:
      return PackQ5_K;
    case Format::kQ6_K:
      return PackQ6_K;
    case Format::kBF16:
      return PackBF16;
    case Format::kF16:
      return PackF16;
  }
  return nullptr;
}

}  // namespace

void PackTiles(Format format, int64_t rows, int64_t k, const void* source, void* tiles) {
  const PackRow pack = RowPacker(format);
  const auto* from = static_cast<const uint8_t*>(source);
  auto* to = static_cast<uint8_t*>(tiles);
  for (int64_t row = 0; row < rows; ++row, from += RowBytes(format, k)) {
    pack(row % kTileRows, k, from,
         to + static_cast<size_t>(row / kTileRows) * TileBytes(format, k));
  }
}

}  // namespace oi::kernels
