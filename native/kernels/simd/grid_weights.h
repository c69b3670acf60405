// Weight formats whose quants are vectors of a codebook, once for all vector widths: as
// plain_weights.h. The codebooks are ggml's (../codebooks.h).
//
// Planes of a tile, in order; "bytes" of a super-block are [n][16 rows]:
//   IQ1_S    per 32: a step of 4 places | per 256: fp16 d[16], 16 bytes (of each block 2)
//   IQ1_M    per 32: a step of 4 places | per 256: fp16 d[16], 16 bytes (of each block 2 with high
//            bits), 6 bytes with 16 scales of 3 bits
//   IQ2_XXS  per 32: a step of 4 places, a step of signs and scale | per 256: fp16 d[16]
//   IQ2_XS   per 32: 2 steps of 2 places with signs each | per 256: fp16 d[16], 8 bytes of scales
//   IQ2_S    per 32: a step of 4 places, a step of signs | per 256: fp16 d[16], 8 bytes of high
//            bits, 8 of scales
//   IQ3_XXS  per 32: 2 steps of 4 places, a step of signs and scale | per 256: fp16 d[16]
//   IQ3_S    per 32: 2 steps of 4 places, a step of signs | per 256: fp16 d[16], 8 bytes of high
//            bits, 4 of scales
// A place names 8 values, of IQ3 4; what IQ1_M has of d among its scales is put together.

#pragma once

#include "../codebooks.h"
#include "../format.h"

namespace oi::kernels::simd {

// Bit i of a number makes byte i of its entry 255.
alignas(64) inline constexpr uint32_t kBytesOfBits[16] = {
    0x00000000, 0x000000FF, 0x0000FF00, 0x0000FFFF, 0x00FF0000, 0x00FF00FF, 0x00FFFF00, 0x00FFFFFF,
    0xFF000000, 0xFF0000FF, 0xFF00FF00, 0xFF00FFFF, 0xFFFF0000, 0xFFFF00FF, 0xFFFFFF00, 0xFFFFFFFF};

template <class L>
class Grid {
 public:
  void At(int64_t block) {
    block_ = block;
    step_ = places_ + block * bytes_;
  }

 protected:
  using Ints = typename L::Ints;

  // bytes: of a block of the tile, before the scales.
  Grid(const uint8_t* tile, int64_t k, int64_t bytes)
      : places_(tile), scales_(tile + k / kBlock * bytes), bytes_(bytes) {}

  static Ints Bits(Ints x, int shift, int mask) { return L::And(L::Right(x, shift), L::Set(mask)); }

  // Half of a vector of 8.
  static Ints HalfOf(const void* book, Ints place, int half) {
    return L::Gather(book, L::Or(L::Left(place, 1), L::Set(half)));
  }

  // The signs of half of a vector: 7 bits, and the eighth makes their number even.
  static Ints EvenSigns(Ints bits, int half) {
    if (half == 0) return L::And(bits, L::Set(15));
    Ints odd = L::Xor(bits, L::Right(bits, 4));
    odd = L::Xor(odd, L::Right(odd, 2));
    odd = L::And(L::Xor(odd, L::Right(odd, 1)), L::Set(1));
    return L::Or(L::Right(bits, 4), L::Left(odd, 3));
  }

  // d * (2 * number + 1) / kParts
  template <int kParts>
  static auto Odd(const uint8_t* d, Ints number, int v) {
    const auto scale = L::ToFloats(L::Or(L::Left(number, 1), L::Set(1)));
    return L::Multiply(L::Multiply(L::LoadHalfs(d, v), scale), L::SetFloat(1.0f / kParts));
  }

  const uint8_t* places_;
  const uint8_t* scales_;
  int64_t bytes_;
  int64_t block_ = 0;
  const uint8_t* step_ = nullptr;
};

// With signs. kMost: the largest number of the vectors.
template <class L, int kMost>
class SignedGrid : public Grid<L> {
 public:
  static constexpr int kOffset = kMost + 1;
  static constexpr int kLargest = kOffset + kMost;
  static constexpr int kMins = 0;

 protected:
  using Grid<L>::Grid;

  // Bytes as numbers and the offset; the four low bits of `signs` are set where they are negative.
  static auto Signed(typename L::Ints bytes, typename L::Ints signs) {
    const auto negative = L::Lookup(kBytesOfBits, signs);
    const auto numbers = L::SubtractBytes(L::Xor(bytes, negative), negative);
    return L::AddBytes(numbers, L::SetBytes(kOffset));
  }
};

constexpr int kMostOfIQ2 = 43;

template <class L>
class IQ2_XXS : public SignedGrid<L, kMostOfIQ2> {
 public:
  static constexpr Format kFormat = Format::kIQ2_XXS;
  static constexpr int kHalves = 1;

  IQ2_XXS(const uint8_t* tile, int64_t k) : SignedGrid<L, kMostOfIQ2>(tile, k, 128) {}
  auto Step(int s, int v) const {
    const auto place = this->Bits(L::Load(this->step_, v), s / 2 * 8, 255);
    const auto signs = this->Bits(L::Load(this->step_ + 64, v), s / 2 * 7, 127);
    return this->Signed(this->HalfOf(kIQ2_XXSBook, place, s % 2), this->EvenSigns(signs, s % 2));
  }
  auto Scale(int64_t block, int, int v) const {
    const auto signs = L::Load(this->places_ + block * 128 + 64, v);
    return this->template Odd<8>(this->scales_ + block / 8 * 32, L::Right(signs, 28), v);
  }
};

// Scales of 4 bits for each 16 values.
template <class L>
class IQ2Scales : public SignedGrid<L, kMostOfIQ2> {
 public:
  static constexpr int kHalves = 2;

 protected:
  using SignedGrid<L, kMostOfIQ2>::SignedGrid;
  auto ScaleIn(const uint8_t* super, const uint8_t* bytes, int64_t block, int half, int v) const {
    const auto byte = L::LoadBytes(bytes + block % 8 * kTileRows, v);
    return this->template Odd<8>(super, this->Bits(byte, half * 4, 15), v);
  }
};

template <class L>
class IQ2_XS : public IQ2Scales<L> {
 public:
  static constexpr Format kFormat = Format::kIQ2_XS;

  IQ2_XS(const uint8_t* tile, int64_t k) : IQ2Scales<L>(tile, k, 128) {}
  auto Step(int s, int v) const {
    const auto both = L::Load(this->step_ + s / 4 * 64, v);
    const int shift = s / 2 % 2 * 16;
    const auto place = this->Bits(both, shift, 511);
    const auto signs = this->Bits(both, shift + 9, 127);
    return this->Signed(this->HalfOf(kIQ2_XSBook, place, s % 2), this->EvenSigns(signs, s % 2));
  }
  auto Scale(int64_t block, int half, int v) const {
    const uint8_t* super = this->scales_ + block / 8 * 160;
    return this->ScaleIn(super, super + 32, block, half, v);
  }
};

template <class L>
class IQ2_S : public IQ2Scales<L> {
 public:
  static constexpr Format kFormat = Format::kIQ2_S;

  IQ2_S(const uint8_t* tile, int64_t k) : IQ2Scales<L>(tile, k, 128) {}
  auto Step(int s, int v) const {
    const int i = s / 2;
    const auto high = L::LoadBytes(Super(this->block_) + 32 + this->block_ % 8 * kTileRows, v);
    const auto place = L::Or(this->Bits(L::Load(this->step_, v), i * 8, 255),
                             L::Left(this->Bits(high, i * 2, 3), 8));
    const auto signs = L::Right(L::Load(this->step_ + 64, v), s * 4);
    return this->Signed(this->HalfOf(kIQ2_SBook, place, s % 2), signs);
  }
  auto Scale(int64_t block, int half, int v) const {
    return this->ScaleIn(Super(block), Super(block) + 160, block, half, v);
  }

 private:
  const uint8_t* Super(int64_t block) const { return this->scales_ + block / 8 * 288; }
};

template <class L>
class IQ3_XXS : public SignedGrid<L, 62> {
 public:
  static constexpr Format kFormat = Format::kIQ3_XXS;
  static constexpr int kHalves = 1;

  IQ3_XXS(const uint8_t* tile, int64_t k) : SignedGrid<L, 62>(tile, k, 192) {}
  auto Step(int s, int v) const {
    const auto place = this->Bits(L::Load(this->step_ + s / 4 * 64, v), s % 4 * 8, 255);
    const auto signs = this->Bits(L::Load(this->step_ + 128, v), s / 2 * 7, 127);
    return this->Signed(L::Gather(kIQ3_XXSBook, place), this->EvenSigns(signs, s % 2));
  }
  auto Scale(int64_t block, int, int v) const {
    const auto signs = L::Load(this->places_ + block * 192 + 128, v);
    return this->template Odd<4>(this->scales_ + block / 8 * 32, L::Right(signs, 28), v);
  }
};

template <class L>
class IQ3_S : public SignedGrid<L, 15> {
 public:
  static constexpr Format kFormat = Format::kIQ3_S;
  static constexpr int kHalves = 1;

  IQ3_S(const uint8_t* tile, int64_t k) : SignedGrid<L, 15>(tile, k, 192) {}
  auto Step(int s, int v) const {
    const auto high = L::LoadBytes(Super(this->block_) + 32 + this->block_ % 8 * kTileRows, v);
    const auto place = L::Or(this->Bits(L::Load(this->step_ + s / 4 * 64, v), s % 4 * 8, 255),
                             L::Left(this->Bits(high, s, 1), 8));
    const auto signs = L::Right(L::Load(this->step_ + 128, v), s * 4);
    return this->Signed(L::Gather(kIQ3_SBook, place), signs);
  }
  auto Scale(int64_t block, int, int v) const {
    const uint8_t* super = Super(block);
    const auto byte = L::LoadBytes(super + 160 + block % 8 / 2 * kTileRows, v);
    return this->template Odd<1>(super, this->Bits(byte, static_cast<int>(block % 2) * 4, 15), v);
  }

 private:
  const uint8_t* Super(int64_t block) const { return this->scales_ + block / 8 * 224; }
};

// Numbers -1, 0 and 1, an eighth more or less: eighths, and 16 added.
template <class L>
class Eighths : public Grid<L> {
 public:
  static constexpr int kOffset = 16;
  static constexpr int kLargest = 31;
  static constexpr int kMins = 0;

 protected:
  using Grid<L>::Grid;
  // less: not 0 where an eighth less.
  static auto Moved(typename L::Ints place, typename L::Ints less, int half) {
    const auto numbers = Grid<L>::HalfOf(kIQ1Book, place, half);
    const auto eighths = L::And(L::Left(numbers, 3), L::SetBytes(0xF8));
    const auto moved = L::Where(less, L::SetBytes(15), L::SetBytes(17));
    return L::AddBytes(eighths, moved);
  }
};

template <class L>
class IQ1_S : public Eighths<L> {
 public:
  static constexpr Format kFormat = Format::kIQ1_S;
  static constexpr int kHalves = 1;

  IQ1_S(const uint8_t* tile, int64_t k) : Eighths<L>(tile, k, 64) {}
  // Of 16 bits 3 belong to each place, 3 to the scale, and the last is the sign of the eighth.
  auto Step(int s, int v) const {
    const int i = s / 2;
    const auto high = High(this->block_, v);
    const auto place = L::Or(this->Bits(L::Load(this->step_, v), i * 8, 255),
                             L::Left(this->Bits(high, i * 3, 7), 8));
    return this->Moved(place, this->Bits(high, 15, 1), s % 2);
  }
  auto Scale(int64_t block, int, int v) const {
    return this->template Odd<8>(Super(block), this->Bits(High(block, v), 12, 7), v);
  }

 private:
  const uint8_t* Super(int64_t block) const { return this->scales_ + block / 8 * 288; }
  auto High(int64_t block, int v) const {
    const uint8_t* bytes = Super(block) + 32 + block % 8 * 2 * kTileRows;
    return L::Or(L::LoadBytes(bytes, v), L::Left(L::LoadBytes(bytes + kTileRows, v), 8));
  }
};

template <class L>
class IQ1_M : public Eighths<L> {
 public:
  static constexpr Format kFormat = Format::kIQ1_M;
  static constexpr int kHalves = 2;

  IQ1_M(const uint8_t* tile, int64_t k) : Eighths<L>(tile, k, 64) {}
  // Of 4 bits 3 belong to a place, and the last is the sign of the eighth.
  auto Step(int s, int v) const {
    const int i = s / 2;
    const uint8_t* bytes = Super(this->block_) + 32 + this->block_ % 8 * 2 * kTileRows;
    const auto high = L::Right(L::LoadBytes(bytes + i / 2 * kTileRows, v), i % 2 * 4);
    const auto place =
        L::Or(this->Bits(L::Load(this->step_, v), i * 8, 255), L::Left(this->Bits(high, 0, 7), 8));
    return this->Moved(place, this->Bits(high, 3, 1), s % 2);
  }
  auto Scale(int64_t block, int half, int v) const {
    const uint8_t* super = Super(block);
    const int bit = (static_cast<int>(block % 8) * 2 + half) * 3;
    const uint8_t* bytes = super + 288 + bit / 8 * kTileRows;
    auto both = L::LoadBytes(bytes, v);
    if (bit % 8 > 5) both = L::Or(both, L::Left(L::LoadBytes(bytes + kTileRows, v), 8));
    return this->template Odd<8>(super, this->Bits(both, bit % 8, 7), v);
  }

 private:
  const uint8_t* Super(int64_t block) const { return this->scales_ + block / 8 * 384; }
};

}  // namespace oi::kernels::simd
