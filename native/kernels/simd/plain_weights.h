// Weight formats whose quants are bits, once for all vector widths.
//
// L, the lanes of a set, has registers of 4 bytes for each of some rows: avx512/lanes.h of all 16
// of a tile, avx2/lanes.h of 8, where part v of a tile is its rows 8 v to 8 v + 7. A format W<L>
// gives what avx512/weights.h and avx2/weights.h say of
//   kFormat, kOffset, kLargest, kHalves, kMins
//   At(block)              moves to a block of 32 values
//   Step(s, v)             the quants of values 4 s to 4 s + 3 of the block, s in 0..7
//   Scale(block, half, v)  scales of rows; with kMins also Min(block, half, v)
//
// Planes of a tile, in order; "bytes" of a block or super-block are [n][16 rows]:
//   Q4_1    nibbles (k/8 steps) | per 32: fp16 d[16], fp16 m[16]
//   Q5_0    nibbles (k/8 steps) | high bits (k/32 steps) | per 32: fp16 d[16]
//   Q5_1    the same | per 32: fp16 d[16], fp16 m[16]
//   Q2_K    pairs of bits (k/16 steps) | per 256: fp16 d[16], fp16 dmin[16], 16 bytes
//   Q3_K    pairs of bits (k/16 steps) | high bits (k/32 steps) | per 256: fp16 d[16], 12 bytes
//   TQ2_0   pairs of bits (k/16 steps) | per 256: fp16 d[16]
// The high bit of value 4 s + b is bit s of byte b: of Q5_0 and Q5_1 within its block, of Q3_K bit
// i of byte b is that of block i.

#pragma once

#include "../format.h"

namespace oi::kernels::simd {

// Weights at quants of a block in steps of 64 bytes, and scales behind all of them.
template <class L>
class Planes {
 protected:
  using Ints = typename L::Ints;
  using Floats = typename L::Floats;

  // steps: of 64 bytes, in a row of k values.
  Planes(const uint8_t* tile, int64_t steps) : quants_(tile), scales_(tile + steps * 64) {}

  // Nibbles of a block of their own: the first 16 values are the low ones.
  Ints OwnNibbles(int s, int v) const {
    return Bits(L::Load(step_ + (s % 4) * 64, v), s < 4 ? 0 : 4, 0x0F);
  }
  static Ints Bits(Ints x, int shift, int mask) {
    return L::And(L::Right(x, shift), L::SetBytes(mask));
  }
  static Floats Number(Ints x) { return L::ToFloats(x); }

  const uint8_t* quants_;
  const uint8_t* scales_;
  const uint8_t* step_ = nullptr;
};

template <class L>
class Q4_1 : public Planes<L> {
 public:
  static constexpr Format kFormat = Format::kQ4_1;
  static constexpr int kOffset = 0;
  static constexpr int kLargest = 15;
  static constexpr int kHalves = 1;
  static constexpr int kMins = 1;

  Q4_1(const uint8_t* tile, int64_t k) : Planes<L>(tile, k / 8) {}
  void At(int64_t block) { this->step_ = this->quants_ + block * 256; }
  auto Step(int s, int v) const { return this->OwnNibbles(s, v); }
  auto Scale(int64_t block, int, int v) const {
    return L::LoadHalfs(this->scales_ + block * 64, v);
  }
  // The file has what is added.
  auto Min(int64_t block, int, int v) const {
    return L::Negative(L::LoadHalfs(this->scales_ + block * 64 + 32, v));
  }
};

// Q5_0 and Q5_1.
template <class L, bool kWithMins>
class Q5 : public Planes<L> {
 public:
  static constexpr Format kFormat = kWithMins ? Format::kQ5_1 : Format::kQ5_0;
  static constexpr int kOffset = kWithMins ? 0 : 16;
  static constexpr int kLargest = 31;
  static constexpr int kHalves = 1;
  static constexpr int kMins = kWithMins ? 1 : 0;

  Q5(const uint8_t* tile, int64_t k) : Planes<L>(tile, k / 8 + k / 32), high_(tile + 8 * k) {}
  void At(int64_t block) {
    this->step_ = this->quants_ + block * 256;
    high_step_ = high_ + block * 64;
  }
  auto Step(int s, int v) const {
    const auto bits = L::Load(high_step_, v);
    const auto high = s < 4 ? L::Left(bits, 4 - s) : L::Right(bits, s - 4);
    return L::Or(this->OwnNibbles(s, v), L::And(high, L::SetBytes(0x10)));
  }
  auto Scale(int64_t block, int, int v) const {
    return L::LoadHalfs(this->scales_ + block * kScaleBytes, v);
  }
  auto Min(int64_t block, int, int v) const {
    return L::Negative(L::LoadHalfs(this->scales_ + block * kScaleBytes + 32, v));
  }

 private:
  static constexpr int64_t kScaleBytes = kWithMins ? 64 : 32;

  const uint8_t* high_;
  const uint8_t* high_step_ = nullptr;
};

template <class L>
using Q5_0 = Q5<L, false>;
template <class L>
using Q5_1 = Q5<L, true>;

// Four blocks share 32 bytes of a row.
template <class L>
class Pairs : public Planes<L> {
 public:
  void At(int64_t block) {
    this->step_ = this->quants_ + block / 4 * 512;
    shift_ = static_cast<int>(block % 4) * 2;
  }

 protected:
  using Planes<L>::Planes;
  auto Pair(int s, int v) const { return this->Bits(L::Load(this->step_ + s * 64, v), shift_, 3); }

 private:
  int shift_ = 0;
};

// Scales of 4 bits for each 16 values are multiplied into the quants, which leaves one for all.
template <class L>
class Q2_K : public Pairs<L> {
 public:
  static constexpr Format kFormat = Format::kQ2_K;
  static constexpr int kOffset = 0;
  static constexpr int kLargest = 3 * 15;
  static constexpr int kHalves = 1;
  static constexpr int kMins = 2;

  Q2_K(const uint8_t* tile, int64_t k) : Pairs<L>(tile, k / 16) {}
  void At(int64_t block) {
    Pairs<L>::At(block);
    bytes_ = Bytes(block);
  }
  auto Step(int s, int v) const {
    const auto byte = L::LoadBytes(bytes_ + s / 4 * kTileRows, v);
    return L::MultiplyInts(this->Pair(s, v), L::And(byte, L::Set(15)));
  }
  auto Scale(int64_t block, int, int v) const { return L::LoadHalfs(Super(block), v); }
  auto Min(int64_t block, int half, int v) const {
    const auto byte = L::LoadBytes(Bytes(block) + half * kTileRows, v);
    return L::Multiply(L::LoadHalfs(Super(block) + 32, v), this->Number(L::Right(byte, 4)));
  }

 private:
  const uint8_t* Super(int64_t block) const { return this->scales_ + block / 8 * 320; }
  const uint8_t* Bytes(int64_t block) const {
    return Super(block) + 64 + block % 8 * 2 * kTileRows;
  }

  const uint8_t* bytes_ = nullptr;
};

template <class L>
class Q3_K : public Pairs<L> {
 public:
  static constexpr Format kFormat = Format::kQ3_K;
  static constexpr int kOffset = 4;
  static constexpr int kLargest = 7;
  static constexpr int kHalves = 2;
  static constexpr int kMins = 0;

  Q3_K(const uint8_t* tile, int64_t k) : Pairs<L>(tile, k / 16 + k / 32), high_(tile + 4 * k) {}
  void At(int64_t block) {
    Pairs<L>::At(block);
    high_step_ = high_ + block / 8 * 512;
    bit_ = static_cast<int>(block % 8);
  }
  auto Step(int s, int v) const {
    const auto bits = L::Load(high_step_ + s * 64, v);
    const auto high = bit_ < 2 ? L::Left(bits, 2 - bit_) : L::Right(bits, bit_ - 2);
    return L::Or(this->Pair(s, v), L::And(high, L::SetBytes(4)));
  }
  // 16 scales of 6 bits, less 32: nibbles in 8 bytes, the low ones first, and pairs in 4.
  auto Scale(int64_t block, int half, int v) const {
    const uint8_t* super = this->scales_ + block / 8 * 224;
    const uint8_t* bytes = super + 32;
    const int i = static_cast<int>(block % 8) * 2 + half;
    const auto low = this->Bits(L::LoadBytes(bytes + i % 8 * kTileRows, v), i / 8 * 4, 0x0F);
    const auto top = this->Bits(L::LoadBytes(bytes + (8 + i % 4) * kTileRows, v), i / 4 * 2, 3);
    const auto scale = L::Subtract(L::Or(low, L::Left(top, 4)), L::Set(32));
    return L::Multiply(L::LoadHalfs(super, v), this->Number(scale));
  }

 private:
  const uint8_t* high_;
  const uint8_t* high_step_ = nullptr;
  int bit_ = 0;
};

template <class L>
class TQ2_0 : public Pairs<L> {
 public:
  static constexpr Format kFormat = Format::kTQ2_0;
  static constexpr int kOffset = 1;
  static constexpr int kLargest = 3;
  static constexpr int kHalves = 1;
  static constexpr int kMins = 0;

  TQ2_0(const uint8_t* tile, int64_t k) : Pairs<L>(tile, k / 16) {}
  auto Step(int s, int v) const { return this->Pair(s, v); }
  auto Scale(int64_t block, int, int v) const {
    return L::LoadHalfs(this->scales_ + block / 8 * 32, v);
  }
};

}  // namespace oi::kernels::simd
