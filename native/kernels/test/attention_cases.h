// Random attention over a cache, for tests of it.

#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "lab.h"

namespace oi::kernels::test {

using Case = Operation::AttentionCase;
constexpr float kHidden = -std::numeric_limits<float>::infinity();

// Rounded as the cache rounds them, so that errors are of the arithmetic.
inline Floats Rounded(ggml_type type, const Floats& values, int64_t k) {
  return type == GGML_TYPE_F32 ? values : Decode(type, Encode(type, values, k));
}

// A prefix that all tokens see, then forks of `fork` tokens, each seeing its own past.
inline Case RandomCase(ggml_type type, int64_t size, int64_t heads, int64_t key_heads,
                       int64_t tokens, int64_t prefix, int64_t fork, std::mt19937& random) {
  Case one;
  one.type = type;
  one.size = size;
  one.heads = heads;
  one.key_heads = key_heads;
  one.tokens = tokens;
  one.cells = prefix + tokens;
  one.queries = RandomFloats(heads * tokens * size, 1.5f, random);
  one.keys = Rounded(type, RandomFloats(one.cells * key_heads * size, 1, random), size);
  one.values = Rounded(type, RandomFloats(one.cells * key_heads * size, 1, random), size);
  one.mask.assign(static_cast<size_t>(tokens * one.cells), kHidden);
  for (int64_t t = 0; t < tokens; ++t) {
    float* row = one.mask.data() + t * one.cells;
    std::fill_n(row, prefix, 0.0f);
    std::fill(row + prefix + t / fork * fork, row + prefix + t + 1, 0.0f);
  }
  return one;
}

inline Floats Compute(Side side, const Case& one, int threads) {
  const auto operation = Operation::Attention(side, one);
  operation->Compute(side, threads);
  return operation->Result();
}

inline bool SameBits(const float* a, const float* b, int64_t count) {
  return std::memcmp(a, b, static_cast<size_t>(count) * sizeof(float)) == 0;
}

}  // namespace oi::kernels::test
