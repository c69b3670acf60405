// Images inside a prefix: each row of an image has a token id of its own there, below 0.
//
// So code that compares, shares, cuts or saves prefixes by their tokens works for images too.
//
// Rules
//   1. A row's id holds 29 bits of the hash of its image and of its number: two images differ in
//      their first row, but for one case in 2^29, and in all of their rows never.
//   2. A prefix is cut in front of an image or behind it, never inside: an image is evaluated as
//      a whole.
//   3. With M-RoPE an image of n rows takes up fewer positions than rows. Its last rows are
//      marked, one for each position, so positions can be counted without the image.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../types.h"

namespace oi {

constexpr Token kImageStart = 1 << 30;
constexpr Token kImagePosition = 1 << 29;
constexpr Token kImageHash = kImagePosition - 1;

inline bool IsImage(Token token) { return token < 0; }
inline bool StartsImage(Token token) { return token < 0 && (~token & kImageStart) != 0; }
inline bool TakesPosition(Token token) { return token >= 0 || (~token & kImagePosition) != 0; }

inline void AppendImage(const ImageKey& key, size_t rows, size_t positions,
                        std::vector<Token>& tokens) {
  for (size_t i = 0; i < rows; ++i) {
    // A bijection of 64 bits (splitmix64), so that neighbouring rows have nothing in common.
    uint64_t bits = key[i % key.size()] + i * 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    Token value = static_cast<Token>((bits ^ (bits >> 31)) & kImageHash);
    if (i == 0) value |= kImageStart;
    if (i + positions >= rows) value |= kImagePosition;
    tokens.push_back(~value);
  }
}

// The position of the token at `index`, or behind the last one.
inline size_t PositionAt(const std::vector<Token>& tokens, size_t index) {
  const auto end = tokens.begin() + static_cast<ptrdiff_t>(index);
  return static_cast<size_t>(std::count_if(tokens.begin(), end, TakesPosition));
}

// The longest beginning of at most `length` tokens that ends inside no image.
inline size_t WholeImages(const std::vector<Token>& tokens, size_t length) {
  while (length < tokens.size() && IsImage(tokens[length]) && !StartsImage(tokens[length])) {
    --length;
  }
  return length;
}

// Where the text around `index` begins: behind the last image before it.
inline size_t TextStart(const std::vector<Token>& tokens, size_t index) {
  while (index > 0 && !IsImage(tokens[index - 1])) --index;
  return index;
}

// Where the text from `index` on ends: before the next image, or at `end`.
inline size_t TextEnd(const std::vector<Token>& tokens, size_t index, size_t end) {
  const auto begin = tokens.begin();
  return static_cast<size_t>(std::find_if(begin + static_cast<ptrdiff_t>(index),
                                          begin + static_cast<ptrdiff_t>(end), IsImage) -
                             begin);
}

}  // namespace oi
