#include "../attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "attention_cases.h"
#include "tap.h"

namespace oi::kernels::test {
namespace {

// Of the error, over the size of the results: what softmax loses, or what numbers of 16 bits do.
double Bound(ggml_type type) {
  const CacheFormat format = type == GGML_TYPE_F32 ? CacheFormat::kF32 : CacheFormat::kF16;
  return FindAttention(format)->bits == 16 ? 4e-5 : 2e-5;
}

// [tokens][heads][size]
std::vector<double> Reference(const Case& one) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(one.size));
  std::vector<double> results(static_cast<size_t>(one.tokens * one.heads * one.size));
  for (int64_t t = 0; t < one.tokens; ++t) {
    for (int64_t h = 0; h < one.heads; ++h) {
      const float* query = one.queries.data() + (h * one.tokens + t) * one.size;
      const int64_t key_head = h / (one.heads / one.key_heads);
      double* result = results.data() + (t * one.heads + h) * one.size;
      double total = one.sinks.empty() ? 0 : std::exp(static_cast<double>(one.sinks[h]));
      for (int64_t c = 0; c < one.cells; ++c) {
        const float added = one.mask[t * one.cells + c];
        if (added == kHidden) continue;
        const int64_t at = (c * one.key_heads + key_head) * one.size;
        double score = 0;
        for (int64_t d = 0; d < one.size; ++d) {
          score += static_cast<double>(query[d]) * one.keys[at + d];
        }
        const double weight = std::exp(score * scale + added);
        total += weight;
        for (int64_t d = 0; d < one.size; ++d) result[d] += weight * one.values[at + d];
      }
      for (int64_t d = 0; d < one.size && total > 0; ++d) result[d] /= total;
    }
  }
  return results;
}

double Error(const Floats& results, const std::vector<double>& reference) {
  double worst = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    worst = std::max(worst, std::abs(results[i] - reference[i]));
    if (std::isnan(results[i])) return std::numeric_limits<double>::infinity();
  }
  return worst;
}

void CheckSizes(ggml_type type) {
  std::mt19937 random(type + 300);
  for (const int64_t size : {32, 64, 80, 96, 128, 256}) {
    double ours = 0;
    double stock = 0;
    bool threads_agree = true;
    bool alone_agrees = true;
    for (const int64_t sharing : {1, 2, 4, 7}) {
      for (const int64_t tokens : {1, 5, 20, 70}) {
        const int64_t key_heads = 2;
        const auto prefix = static_cast<int64_t>(random() % 130);
        const Case one = RandomCase(type, size, sharing * key_heads, key_heads, tokens, prefix,
                                    1 + static_cast<int64_t>(random() % 25), random);
        const auto reference = Reference(one);
        const Floats result = Compute(Side::kOurs, one, 1);
        ours = std::max(ours, Error(result, reference));
        stock = std::max(stock, Error(Compute(Side::kStock, one, 1), reference));
        for (int threads = 2; threads <= 4; ++threads) {
          const Floats other = Compute(Side::kOurs, one, threads);
          const auto count = static_cast<int64_t>(result.size());
          threads_agree = threads_agree && SameBits(result.data(), other.data(), count);
        }
        // The last token alone, over the same cells.
        Case last = one;
        last.tokens = 1;
        last.queries.clear();
        for (int64_t h = 0; h < one.heads; ++h) {
          const auto at = one.queries.begin() + (h * tokens + tokens - 1) * size;
          last.queries.insert(last.queries.end(), at, at + size);
        }
        last.mask.assign(one.mask.end() - one.cells, one.mask.end());
        const Floats alone = Compute(Side::kOurs, last, 1);
        const int64_t width = one.heads * size;
        alone_agrees =
            alone_agrees && SameBits(alone.data(), result.data() + (tokens - 1) * width, width);
      }
    }
    const std::string name =
        std::string("attention, ") + ggml_type_name(type) + ", heads of " + std::to_string(size);
    char detail[100];
    std::snprintf(detail, sizeof(detail), "%.3e, stock %.3e", ours, stock);
    // With floats in the cache, stock rounds nothing but the last bit of sums either.
    const double most = type == GGML_TYPE_F32 ? 3 * stock : stock;
    Check(ours <= most && ours < Bound(type), name + ": no further from exact than stock", detail);
    Check(threads_agree, name + ": the same bits on 1 to 4 threads");
    Check(alone_agrees, name + ": the same bits for a token alone and among others");
  }
}

void CheckHidden(ggml_type type) {
  std::mt19937 random(type + 400);
  const std::string name = std::string("attention, ") + ggml_type_name(type);
  Case one = RandomCase(type, 64, 4, 2, 9, 64, 3, random);
  // Cells that nobody may see, across blocks.
  for (int64_t t = 0; t < one.tokens; ++t) {
    std::fill_n(one.mask.begin() + t * one.cells + 10, 40, kHidden);
  }
  const Floats clean = Compute(Side::kOurs, one, 2);
  Check(Error(clean, Reference(one)) < Bound(type),
        name + ": cells hidden in the middle of the prefix");
  Case spoiled = one;
  for (int64_t c = 10; c < 50; ++c) {
    const auto at = c * one.key_heads * one.size;
    std::fill_n(spoiled.keys.begin() + at, 2 * one.size, std::nanf(""));
    std::fill_n(spoiled.values.begin() + at, 2 * one.size, -kHidden);
  }
  const Floats result = Compute(Side::kOurs, spoiled, 2);
  Check(SameBits(result.data(), clean.data(), static_cast<int64_t>(clean.size())),
        name + ": what lies in cells that nobody may see changes nothing");

  Case blind = one;
  std::fill_n(blind.mask.begin() + 4 * one.cells, one.cells, kHidden);
  const Floats none = Compute(Side::kOurs, blind, 2);
  const int64_t width = one.heads * one.size;
  bool zeros = true;
  for (int64_t i = 0; i < width; ++i) zeros = zeros && none[4 * width + i] == 0.0f;
  Check(zeros, name + ": a token that may see nothing gets zeros");
  Check(SameBits(none.data() + 5 * width, clean.data() + 5 * width, 4 * width),
        name + ": a token that may see nothing changes no other");

  Case added = one;
  for (float& value : added.mask) {
    if (value == 0.0f) value = -static_cast<float>(random() % 8) / 4;
  }
  Check(Error(Compute(Side::kOurs, added, 2), Reference(added)) < Bound(type),
        name + ": what a mask adds to scores counts");

  Case large = one;
  for (float& value : large.queries) value *= 100;
  // A float of that size is off by 3e-5, and what it is a sum of by several times that.
  const double error = Error(Compute(Side::kOurs, large, 2), Reference(large));
  Check(error < 50 * Bound(type), name + ": scores in the hundreds do not overflow",
        std::to_string(error));

  Case lost = one;
  lost.queries[(1 * one.tokens + 2) * one.size] = std::nanf("");  // head 1, token 2
  const Floats nan = Compute(Side::kOurs, lost, 2);
  bool seen = true;
  bool others = true;
  for (int64_t t = 0; t < one.tokens; ++t) {
    for (int64_t h = 0; h < one.heads; ++h) {
      const int64_t at = (t * one.heads + h) * one.size;
      if (t == 2 && h == 1) {
        for (int64_t d = 0; d < one.size; ++d) seen = seen && std::isnan(nan[at + d]);
      } else {
        others = others && SameBits(nan.data() + at, clean.data() + at, one.size);
      }
    }
  }
  Check(seen && others, name + ": a query that is no number gives NaN, and to no other");
}

void CheckSinks(ggml_type type) {
  std::mt19937 random(type + 500);
  const std::string name = std::string("attention, ") + ggml_type_name(type) + ", sinks";
  double ours = 0;
  double stock = 0;
  bool threads_agree = true;
  for (const int64_t tokens : {1, 9, 70}) {
    Case one = RandomCase(type, 64, 8, 2, tokens, 64, 3, random);
    one.sinks = RandomFloats(one.heads, 4, random);
    const Floats result = Compute(Side::kOurs, one, 1);
    const auto reference = Reference(one);
    ours = std::max(ours, Error(result, reference));
    stock = std::max(stock, Error(Compute(Side::kStock, one, 1), reference));
    const Floats other = Compute(Side::kOurs, one, 3);
    threads_agree =
        threads_agree && SameBits(result.data(), other.data(), static_cast<int64_t>(result.size()));
  }
  char detail[100];
  std::snprintf(detail, sizeof(detail), "%.3e, stock %.3e", ours, stock);
  const double most = type == GGML_TYPE_F32 ? 3 * stock : stock;
  Check(ours <= most && ours < Bound(type), name + ": no further from exact than stock", detail);
  Check(threads_agree, name + ": the same bits on 1 and 3 threads");

  Case blind = RandomCase(type, 64, 8, 2, 9, 64, 3, random);
  blind.sinks = RandomFloats(blind.heads, 4, random);
  std::fill_n(blind.mask.begin() + 4 * blind.cells, blind.cells, kHidden);
  const Floats none = Compute(Side::kOurs, blind, 2);
  const auto row = none.begin() + 4 * blind.heads * blind.size;
  Check(std::all_of(row, row + blind.heads * blind.size, [](float value) { return value == 0.0f; }),
        name + ": a token that sees nothing else gets zeros");
  for (const float sink : {-1e6f, 300.0f}) {
    std::fill(blind.sinks.begin(), blind.sinks.end(), sink);
    const double error = Error(Compute(Side::kOurs, blind, 2), Reference(blind));
    Check(error < Bound(type), name + ": far from all scores", std::to_string(error));
  }
}

void CheckCasts() {
  std::mt19937 random(900);
  Case one = RandomCase(GGML_TYPE_F32, 32, 12, 12, 50, 0, 25, random);
  const auto reference = Reference(one);
  const Floats without = Compute(Side::kOurs, one, 2);
  one.cast = true;
  const Floats result = Compute(Side::kOurs, one, 2);
  Check(SameBits(result.data(), without.data(), static_cast<int64_t>(result.size())),
        "attention: keys and values are read without being cast");
  const double stock = Error(Compute(Side::kStock, one, 2), reference);
  Check(Error(result, reference) < stock / 10, "attention: casts lose more", std::to_string(stock));
}

}  // namespace

void CheckAttention() {
  for (const ggml_type type : {GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_F32}) {
    CheckSizes(type);
    CheckHidden(type);
    CheckSinks(type);
  }
  CheckCasts();
}

}  // namespace oi::kernels::test
