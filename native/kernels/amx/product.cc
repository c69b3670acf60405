// Products in tile registers: 16 columns x 16 rows x 32 values of BF16 in one instruction.
//
// A tile of BF16 weights (format.h) already lies as registers take it. Quantized weights are
// unpacked to BF16, which is most of what few columns cost; bytes would have to be scaled after
// each 32 values, which takes vector registers as long as the whole product without tiles
// (measured). Activations are rounded to BF16.

#include "../product.h"

#include "../avx512/registers.h"
#include "../simd/formats.h"
#include "blocks.h"
#include "kernels.h"
#include "unpack.h"

namespace oi::kernels::amx {
namespace {

constexpr int64_t kStep = 32;  // values of a register's row

struct Here;
using Vectors = avx512::Registers<Here>;

class Weights {
 public:
  static constexpr int64_t kChunk = 256;

  static int64_t ColumnBytes(int64_t k) { return k * 2; }

  // Registers: sums 0 and 1 (first group with both tiles), 2 and 3 (second group); activations 4
  // and 5; weights 6 and 7.
  static TileShapes Shapes(int64_t first, int64_t second) {
    TileShapes shapes;
    for (const int tile : {0, 1, 4}) shapes.Set(tile, first, kTileWidth);
    for (const int tile : {2, 3, 5}) shapes.Set(tile, second, kTileWidth);
    for (const int tile : {6, 7}) shapes.Set(tile, 16, kTileWidth);
    return shapes;
  }

  void Compute(const Block& block) const {
    if (block.widths[1] > 0) {
      block.tiles == 2 ? Add<2, 2>(block) : Add<1, 2>(block);
    } else {
      block.tiles == 2 ? Add<2, 1>(block) : Add<1, 1>(block);
    }
  }

 protected:
  // R tiles of weights x C groups of columns.
  template <int R, int C>
  void Add(const Block& block) const {
    BlockSums& sums = *block.sums;
    if (block.begin > 0) {
      amx::Load<0>(sums[0][0]);
      if constexpr (R == 2) amx::Load<1>(sums[0][1]);
      if constexpr (C == 2) amx::Load<2>(sums[1][0]);
      if constexpr (R == 2 && C == 2) amx::Load<3>(sums[1][1]);
    } else {
      Zero<0>();
      if constexpr (R == 2) Zero<1>();
      if constexpr (C == 2) Zero<2>();
      if constexpr (R == 2 && C == 2) Zero<3>();
    }
    const int64_t first_step = block.widths[0] * kTileWidth;
    const int64_t second_step = block.widths[1] * kTileWidth;
    const uint8_t* first = block.groups[0] + block.begin / kStep * first_step;
    const uint8_t* second = block.groups[1] + block.begin / kStep * second_step;
    const int64_t bytes = (block.end - block.begin) / kStep * kTileBytes;
    for (int64_t at = 0; at < bytes; at += kTileBytes, first += first_step, second += second_step) {
      amx::Load<6>(steps_[0] + at);
      amx::Load<4>(first);
      Dot<0, 4, 6>();
      if constexpr (C == 2) {
        amx::Load<5>(second);
        Dot<2, 5, 6>();
      }
      if constexpr (R == 2) {
        amx::Load<7>(steps_[1] + at);
        Dot<1, 4, 7>();
      }
      if constexpr (R == 2 && C == 2) Dot<3, 5, 7>();
    }
    Store<0>(sums[0][0]);
    if constexpr (R == 2) Store<1>(sums[0][1]);
    if constexpr (C == 2) Store<2>(sums[1][0]);
    if constexpr (R == 2 && C == 2) Store<3>(sums[1][1]);
  }

  const uint8_t* steps_[2] = {};  // of two tiles: [step][16][kTileWidth]
};

class Plain : public Weights {
 public:
  static constexpr Format kFormat = Format::kBF16;
  static constexpr int64_t kValueBytes = 32;

  void Load(const uint8_t* tile, int64_t, int64_t r, int64_t begin, int64_t) {
    steps_[r] = tile + begin / kStep * kTileBytes;
  }
};

// U: how the quants lie, one of avx512/weights.h.
template <class U, Format F>
class Unpacked : public Weights {
 public:
  static constexpr Format kFormat = F;
  static constexpr int64_t kValueBytes = F == Format::kQ8_0 ? 16 : 8;

  void Load(const uint8_t* tile, int64_t k, int64_t r, int64_t begin, int64_t end) {
    Unpack<U>(tile, k, begin / kBlock, end / kBlock, unpacked_[r]);
    steps_[r] = unpacked_[r];
  }

 private:
  alignas(64) uint8_t unpacked_[2][kChunk / kStep * kTileBytes];
};

// Steps of a group of n columns lie as [k/32][n][32].
void Convert(const float* const* columns, int64_t width, int64_t, int64_t begin, int64_t end,
             uint8_t* group_start) {
  for (int64_t c = 0; c < width; ++c) {
    for (int64_t i = begin; i < end; i += kStep) {
      const __m512 low = _mm512_loadu_ps(columns[c] + i);
      const __m512 high = _mm512_loadu_ps(columns[c] + i + 16);
      _mm512_storeu_si512(group_start + (i / kStep * width + c) * kTileWidth,
                          (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
  }
}

size_t ActivationBytes(int64_t k, int64_t columns) {
  return static_cast<size_t>(columns * Weights::ColumnBytes(k));
}

template <class W>
constexpr ProductKernel kKernel{
    kGroup,      ActivationBytes,           Convert,
    Multiply<W>, MultiplyGated<W, Vectors>, W::kFormat != Format::kBF16};

}  // namespace

// None for F16, whose weights would be rounded.
const ProductKernel* Product(Format format) {
  if (format == Format::kBF16) return &kKernel<Plain>;
  return simd::FindWeights<avx512::Weights>(
      format, []<class W>() -> const ProductKernel* { return &kKernel<Unpacked<W, W::kFormat>>; });
}

}  // namespace oi::kernels::amx
