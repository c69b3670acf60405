// A prefix outside the context: its tokens, whose it is, and the bytes that llama.cpp reads back.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../input/image_tokens.h"
#include "../types.h"
#include "state_bytes.h"
#include "wanted.h"

namespace oi {

struct SavedState {
  std::string scope;
  std::vector<Token> tokens;
  StateBytes data;
  size_t size = 0;
  // An answer behind it was finite, so it is too (state_cache.h, rule 6).
  bool proved = false;

  uint64_t bytes() const { return size + tokens.size() * sizeof(Token); }
  bool Is(const Wanted& wanted) const { return scope == wanted.scope && tokens == wanted.tokens; }
};

// Ends inside no image.
inline size_t CommonPrefix(const std::vector<Token>& a, const std::vector<Token>& b) {
  const size_t n = std::min(a.size(), b.size());
  const auto end = std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(n), b.begin()).first;
  return std::min(WholeImages(a, static_cast<size_t>(end - a.begin())),
                  WholeImages(b, static_cast<size_t>(end - a.begin())));
}

// Computes how many tokens of a wanted prefix an evaluated one saves.
struct Reuse {
  // A recurrent state stands at its end and cannot be cut short.
  bool only_whole = false;
  // Above 0: cut only behind so many tokens of text or a multiple of that, where evaluating anew
  // would have the same batches.
  size_t grid = 0;
  // Above 0: a state of more tokens has let go of those that left a sliding window, and cannot be
  // cut short either.
  size_t window = 0;
  // Of use for the same prefix alone.
  bool only_same = false;

  static bool MayExceed(const std::vector<Token>& have, const std::vector<Token>& want,
                        size_t best) {
    return best < std::min(have.size(), want.size()) && have[best] == want[best];
  }

  // 0 unless they are more than `best`. A prefix that saves more agrees in the token at `best`, so
  // a search for the best of many compares one token of most of them. `most`: the first tokens that
  // may be shared at all.
  size_t Tokens(const std::vector<Token>& have, const std::vector<Token>& want, size_t best = 0,
                size_t most = SIZE_MAX) const {
    if (only_same) {
      const bool all = most >= want.size() && have.size() > best && have == want;
      return all ? have.size() : 0;
    }
    if (best >= most || !MayExceed(have, want, best)) return 0;
    const size_t common = std::min(most, CommonPrefix(have, want));
    const bool whole = only_whole || (window > 0 && have.size() > window);
    const bool same = common == have.size() && common == want.size();
    if (grid > 0) {
      if (same) return common;
      return whole ? 0 : common - (common - TextStart(want, common)) % grid;
    }
    return whole && common < have.size() ? 0 : common;
  }
};

}  // namespace oi
