// Weight formats whose quants are places in a table of 16 numbers: as plain_weights.h.
//
// Planes of a tile, in order:
//   IQ4_NL  nibbles (k/8 steps) | per 32: fp16 d[16]
//   IQ4_XS  nibbles (k/8 steps) | per 256: fp16 d[16], 6 bytes (high bits of scales, then nibbles)
//   MXFP4   nibbles (k/8 steps) | per 32: 1 byte
//   NVFP4   nibbles (k/8 steps) | per 32: 2 bytes

#pragma once

#include "plain_weights.h"

namespace oi::kernels::simd {

// Nibbles that are places in a table of numbers, the offset added to each.
template <class L, int kOffsetOf, int kLargestOf>
class Tabled : public Planes<L> {
 public:
  static constexpr int kOffset = kOffsetOf;
  static constexpr int kLargest = kLargestOf;
  static constexpr int kMins = 0;

  void At(int64_t block) { this->step_ = this->quants_ + block * 256; }

 protected:
  using Planes<L>::Planes;
};

alignas(16) inline constexpr uint8_t kNonLinear[16] = {
    128 - 127, 128 - 104, 128 - 83, 128 - 65, 128 - 49, 128 - 35, 128 - 22, 128 - 10,
    128 + 1,   128 + 13,  128 + 25, 128 + 38, 128 + 53, 128 + 69, 128 + 89, 128 + 113};
template <class L>
using NonLinear = Tabled<L, 128, 255>;

// Twice the numbers of FP4 (E2M1).
alignas(16) inline constexpr uint8_t kTwiceFp4[16] = {
    16, 16 + 1, 16 + 2, 16 + 3, 16 + 4, 16 + 6, 16 + 8, 16 + 12,
    16, 16 - 1, 16 - 2, 16 - 3, 16 - 4, 16 - 6, 16 - 8, 16 - 12};
template <class L>
using Fp4 = Tabled<L, 16, 28>;

template <class L>
class IQ4_NL : public NonLinear<L> {
 public:
  static constexpr Format kFormat = Format::kIQ4_NL;
  static constexpr int kHalves = 1;

  IQ4_NL(const uint8_t* tile, int64_t k) : NonLinear<L>(tile, k / 8) {}
  auto Step(int s, int v) const { return L::Table(kNonLinear, this->OwnNibbles(s, v)); }
  auto Scale(int64_t block, int, int v) const {
    return L::LoadHalfs(this->scales_ + block * 32, v);
  }
};

template <class L>
class IQ4_XS : public NonLinear<L> {
 public:
  static constexpr Format kFormat = Format::kIQ4_XS;
  static constexpr int kHalves = 1;

  IQ4_XS(const uint8_t* tile, int64_t k) : NonLinear<L>(tile, k / 8) {}
  auto Step(int s, int v) const { return L::Table(kNonLinear, this->OwnNibbles(s, v)); }
  // 8 scales of 6 bits, less 32.
  auto Scale(int64_t block, int, int v) const {
    const uint8_t* super = this->scales_ + block / 8 * 128;
    const uint8_t* bytes = super + 32;
    const int i = static_cast<int>(block % 8);
    const auto top = this->Bits(L::LoadBytes(bytes + i / 4 * kTileRows, v), i % 4 * 2, 3);
    const auto low = this->Bits(L::LoadBytes(bytes + (2 + i / 2) * kTileRows, v), i % 2 * 4, 0x0F);
    const auto scale = L::Subtract(L::Or(low, L::Left(top, 4)), L::Set(32));
    return L::Multiply(L::LoadHalfs(super, v), this->Number(scale));
  }
};

template <class L>
class MXFP4 : public Fp4<L> {
 public:
  static constexpr Format kFormat = Format::kMXFP4;
  static constexpr int kHalves = 1;

  MXFP4(const uint8_t* tile, int64_t k) : Fp4<L>(tile, k / 8) {}
  auto Step(int s, int v) const { return L::Table(kTwiceFp4, this->OwnNibbles(s, v)); }
  // Half of 2^(byte - 127): a float's exponent. What is below 2^-126 counts as 0.
  auto Scale(int64_t block, int, int v) const {
    const auto byte = L::Max(L::LoadBytes(this->scales_ + block * kTileRows, v), L::Set(1));
    return L::AsFloats(L::Left(L::Subtract(byte, L::Set(1)), 23));
  }
};

template <class L>
class NVFP4 : public Fp4<L> {
 public:
  static constexpr Format kFormat = Format::kNVFP4;
  static constexpr int kHalves = 2;

  NVFP4(const uint8_t* tile, int64_t k) : Fp4<L>(tile, k / 8) {}
  // 16 values each: the first 8 are low nibbles.
  auto Step(int s, int v) const {
    const auto bytes = L::Load(this->step_ + (s / 4 * 2 + s % 2) * 64, v);
    return L::Table(kTwiceFp4, this->Bits(bytes, s % 4 < 2 ? 0 : 4, 0x0F));
  }
  // Half of a number of 4 bits of exponent, 3 of mantissa and no sign: as a half-precision number
  // it is 2^8 times smaller. All ones are 0.
  auto Scale(int64_t block, int half, int v) const {
    const auto byte = L::LoadBytes(this->scales_ + (block * 2 + half) * kTileRows, v);
    return L::Multiply(L::HalfsOf(L::Left(L::And(L::ZeroWhere(byte, 0x7F), L::Set(0x7F)), 7)),
                       L::SetFloat(128));
  }
};

}  // namespace oi::kernels::simd
