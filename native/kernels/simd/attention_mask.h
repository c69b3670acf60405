// What the mask says about a block of cells and a tile of rows. S: see attention.h.

#pragma once

#include <algorithm>

#include "../attention.h"

namespace oi::kernels::simd {

template <class S>
constexpr int64_t kRows = 2 * S::kLanes;  // of a tile
constexpr int64_t kCells = 32;            // of a block: bits of a word

// Rows of a tile: the query heads of a token that share a key head, then those of the next token.
// A type of each S alone, so that its functions are too.
template <class S>
struct AttentionRows {
  int64_t first = 0;
  int64_t count = 0;    // at most kRows<S>
  int64_t sharing = 1;  // query heads per key head
  int64_t first_head = 0;

  int64_t token(int64_t row) const { return (first + row) / sharing; }
  int64_t head(int64_t row) const { return first_head + (first + row) % sharing; }
};

struct BlockMask {
  uint32_t used = 0;   // bit c: some row may see cell c of the block
  bool plain = false;  // every row may see every cell, and nothing is added
};

template <class S>
uint32_t CellBits(const AttentionShape& shape, int64_t cell) {
  const int64_t count = std::min(kCells, shape.cells - cell);
  return count == kCells ? 0xFFFFFFFFu : (1u << count) - 1;
}

template <class S>
typename S::Halfs MaskOfToken(const AttentionShape& shape, int64_t token, int64_t cell,
                              uint32_t bits) {
  const uint8_t* line = shape.mask + (token - shape.mask_begin) * shape.mask_token_stride;
  return S::LoadHalfs(line + cell * 2, bits);
}

template <class S>
BlockMask LookAtMask(const AttentionShape& shape, const AttentionRows<S>& rows, int64_t cell) {
  const uint32_t bits = CellBits<S>(shape, cell);
  if (shape.mask == nullptr) return {bits, bits == 0xFFFFFFFFu};
  uint32_t used = 0;
  bool plain = bits == 0xFFFFFFFFu;
  const int64_t last = rows.token(rows.count - 1);
  for (int64_t token = rows.token(0); token <= last; ++token) {
    const auto added = MaskOfToken<S>(shape, token, cell, bits);
    used |= bits & ~S::HiddenBits(added);
    plain = plain && !S::AnyBit(added);
  }
  return {used, plain};
}

// The mask as floats, transposed: [kCells][kRows<S>]. Cells behind the last are hidden.
template <class S>
void SpreadMask(const AttentionShape& shape, const AttentionRows<S>& rows, int64_t cell,
                float* to) {
  const uint32_t bits = CellBits<S>(shape, cell);
  alignas(64) float added[kRows<S>][kCells];  // a line for each token, at its first row
  const float* lines[kRows<S>];
  int64_t token = -1;
  for (int64_t i = 0; i < kRows<S>; ++i) {
    const int64_t of = rows.token(std::min(i, rows.count - 1));
    if (of == token) {
      lines[i] = lines[i - 1];
      continue;
    }
    token = of;
    lines[i] = added[i];
    S::StoreHalfs(shape.mask == nullptr ? S::NoHalfs() : MaskOfToken<S>(shape, token, cell, bits),
                  bits, added[i]);
  }
  for (int64_t c = 0; c < kCells; c += S::kLanes) {
    for (int64_t i = 0; i < kRows<S>; i += S::kLanes) {
      S::Transpose(lines + i, to + c * kRows<S> + i, kRows<S>);
    }
    for (const float*& line : lines) line += S::kLanes;
  }
}

}  // namespace oi::kernels::simd
