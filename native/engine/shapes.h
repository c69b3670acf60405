// Few shapes of steps, so that one has the shape of the one before.
//
// llama.cpp uses its graph again if the next batch has as many tokens, outputs and sequences, and
// attention reads as many cells; CUDA captures the launches of a graph that it has seen before. So
// a step is filled up: with tokens and sequences that are nobody's, outputs that nobody reads,
// cells that nobody sees. Each method gives the size for what a step needs, or a larger one that
// the last steps had, if that costs little.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace oi {

class Shapes {
 public:
  // Powers of two up to 256, as so few tokens take a GPU as long as one; then four sizes from each
  // power of two to the next.
  size_t Tokens(size_t needed, size_t least) {
    const size_t size = Up(needed, std::max(least, kLeastTokens), needed > kFewTokens ? 4 : 1);
    return tokens_.Fit(size, std::max(size, kFewTokens));
  }
  // Of a step of `tokens`. A row of the output head of a small model costs a third of a token.
  size_t Outputs(size_t needed, size_t tokens) {
    const size_t size = Up(needed, 1, 1);
    return outputs_.Fit(size, std::max(4 * size, tokens / 32));
  }
  size_t Sequences(size_t needed) {
    return sequences_.Fit(Up(needed, kSequences, SIZE_MAX), SIZE_MAX);
  }
  size_t Cells(size_t needed) {
    const size_t size = Up(needed, kCells, 4);
    return cells_.Fit(size, 2 * size);
  }

  static constexpr size_t kSequences = 64;  // of which a step has a multiple

 private:
  static constexpr size_t kLeastTokens = 32;
  static constexpr size_t kFewTokens = 256;
  static constexpr size_t kCells = 256;  // of which llama.cpp takes a multiple

  // `least`, then up to `parts` sizes from each doubling of it to the next, `least` apart at least.
  static size_t Up(size_t needed, size_t least, size_t parts) {
    size_t size = least;
    for (size_t doubled = least; size < needed;) {
      size += std::max(doubled / parts, least);
      if (size == 2 * doubled) doubled = size;
    }
    return size;
  }

  class Recent {
   public:
    // `size`, or the largest of the last steps that is not above `limit`.
    size_t Fit(size_t size, size_t limit) {
      last_[next_++ % last_.size()] = size;
      size_t largest = size;
      for (const size_t last : last_) {
        if (last <= limit) largest = std::max(largest, last);
      }
      return largest;
    }

   private:
    std::array<size_t, 16> last_{};
    size_t next_ = 0;
  };

  Recent tokens_;
  Recent outputs_;
  Recent sequences_;
  Recent cells_;
};

}  // namespace oi
