#include <algorithm>
#include <cmath>

#include "../attention.h"
#include "attention_cases.h"
#include "tap.h"

namespace oi::kernels::test {
namespace {

// What one token sees, and nothing else, in the order of `places`.
Case Alone(const Case& one, int64_t token, const std::vector<int64_t>& places) {
  Case alone = one;
  alone.tokens = 1;
  alone.ranks.clear();
  alone.queries.clear();
  alone.keys.clear();
  alone.values.clear();
  for (int64_t h = 0; h < one.heads; ++h) {
    const auto at = one.queries.begin() + (h * one.tokens + token) * one.size;
    alone.queries.insert(alone.queries.end(), at, at + one.size);
  }
  const int64_t width = one.key_heads * one.size;
  for (const int64_t cell : places) {
    if (one.mask[token * one.cells + cell] == kHidden) continue;
    const auto add = [&](Floats& to, const Floats& from) {
      to.insert(to.end(), from.begin() + cell * width, from.begin() + (cell + 1) * width);
    };
    add(alone.keys, one.keys);
    add(alone.values, one.values);
  }
  alone.cells = static_cast<int64_t>(alone.keys.size()) / width;
  alone.mask.assign(static_cast<size_t>(alone.cells), 0.0f);
  return alone;
}

// Forks of a prefix, wherever their cells lie: `window` cells at most are seen; 0: all.
void CheckPlaces(ggml_type type, int64_t window) {
  std::mt19937 random(type + 500);
  bool same = true;
  for (int round = 0; round < 12; ++round) {
    const auto prefix = static_cast<int64_t>(1 + random() % 130);
    const auto fork = static_cast<int64_t>(1 + random() % 25);
    const Case there = RandomCase(type, 64, 6, 2, 40, prefix, fork, random);
    Case one = there;
    one.cells = there.cells + 70;
    std::vector<int64_t> lies(static_cast<size_t>(one.cells));
    for (size_t i = 0; i < lies.size(); ++i) lies[i] = static_cast<int64_t>(i);
    std::shuffle(lies.begin(), lies.end(), random);
    lies.resize(static_cast<size_t>(there.cells));
    const int64_t width = one.key_heads * one.size;
    one.keys.assign(static_cast<size_t>(one.cells * width), std::nanf(""));
    one.values = one.keys;
    one.mask.assign(static_cast<size_t>(one.tokens * one.cells), kHidden);
    one.ranks.assign(static_cast<size_t>(one.cells), -1);
    // Forks are at different places of their sequences: of each, some tokens came before.
    const auto position = [&](int64_t cell) {
      return cell < prefix ? cell : prefix + (cell - prefix) % fork + (cell - prefix) / fork % 3;
    };
    for (int64_t cell = 0; cell < there.cells; ++cell) {
      const int64_t at = lies[static_cast<size_t>(cell)];
      std::copy_n(there.keys.begin() + cell * width, width, one.keys.begin() + at * width);
      std::copy_n(there.values.begin() + cell * width, width, one.values.begin() + at * width);
      one.ranks[static_cast<size_t>(at)] = position(cell);
      for (int64_t t = 0; t < one.tokens; ++t) {
        const bool near = window == 0 || position(prefix + t) - position(cell) < window;
        if (near) one.mask[t * one.cells + at] = there.mask[t * there.cells + cell];
      }
    }
    const int64_t row = one.heads * one.size;
    for (int threads = 1; threads <= 3; ++threads) {
      const Floats all = Compute(Side::kOurs, one, threads);
      for (int64_t t = 0; t < one.tokens; t += 1 + random() % 5) {
        const Floats alone = Compute(Side::kOurs, Alone(one, t, lies), 1);
        same = same && SameBits(alone.data(), all.data() + t * row, row);
      }
    }
  }
  Check(same, std::string("attention, ") + ggml_type_name(type) + (window > 0 ? ", windows" : "") +
                  ": the same bits wherever a sequence's cells lie, and alone");
}

}  // namespace

void CheckAttentionPlaces() {
  for (const ggml_type type : {GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_F32}) {
    const CacheFormat format = type == GGML_TYPE_F32 ? CacheFormat::kF32 : CacheFormat::kF16;
    if (FindAttention(format)->pairs) continue;  // attention.h, rule 1
    CheckPlaces(type, 0);
    CheckPlaces(type, 30);
  }
}

}  // namespace oi::kernels::test
