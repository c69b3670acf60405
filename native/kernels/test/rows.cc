#include "../rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lab.h"
#include "tap.h"

namespace oi::kernels::test {
namespace {

using Case = Operation::RopeCase;
constexpr float kEpsilon = 1e-6f;

bool SameBits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// The largest relative error; infinite if any is no number.
double Error(const Floats& results, const std::vector<double>& reference) {
  double worst = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const double error = std::abs(results[i] - reference[i]) / std::abs(reference[i]);
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, error);
  }
  return worst;
}

Floats Norm(Side side, const Floats& values, int64_t length, const Floats& weights, int threads) {
  const auto operation = Operation::Norm(side, values, length, weights, kEpsilon);
  operation->Compute(side, threads);
  return operation->Result();
}

std::vector<double> NormReference(const Floats& values, int64_t length, const Floats& weights) {
  std::vector<double> results(values.size());
  for (size_t row = 0; row < values.size(); row += static_cast<size_t>(length)) {
    double sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += double{values[row + i]} * values[row + i];
    const double scale = 1 / std::sqrt(sum / static_cast<double>(length) + kEpsilon);
    for (int64_t i = 0; i < length; ++i) {
      results[row + i] = values[row + i] * scale * (weights.empty() ? 1.0 : weights[i]);
    }
  }
  return results;
}

void CheckNorms(bool weighted) {
  std::mt19937 random(weighted ? 600 : 601);
  double ours = 0;
  double stock = 0;
  bool threads_agree = true;
  bool alone_agrees = true;
  for (const int64_t length : {1, 7, 32, 64, 80, 128, 129, 1000, 1024, 2560}) {
    for (const int64_t rows : {1, 3, 40}) {
      // From rows that are all but zeros, of which epsilon is left, to large ones.
      const float size = std::pow(10.0f, static_cast<float>(random() % 9) - 4);
      const Floats values = RandomFloats(rows * length, size, random);
      const Floats weights = weighted ? RandomFloats(length, 1, random) : Floats{};
      const auto reference = NormReference(values, length, weights);
      const Floats result = Norm(Side::kOurs, values, length, weights, 1);
      ours = std::max(ours, Error(result, reference));
      stock = std::max(stock, Error(Norm(Side::kStock, values, length, weights, 1), reference));
      for (int threads = 2; threads <= 4; ++threads) {
        threads_agree =
            threads_agree && SameBits(result, Norm(Side::kOurs, values, length, weights, threads));
      }
      const Floats last(values.end() - length, values.end());
      alone_agrees = alone_agrees && SameBits(Floats(result.end() - length, result.end()),
                                              Norm(Side::kOurs, last, length, weights, 1));
    }
  }
  const std::string name = weighted ? "norm with weights" : "norm";
  char detail[100];
  std::snprintf(detail, sizeof(detail), "%.3e, stock %.3e", ours, stock);
  Check(ours <= stock && ours < 3e-7, name + ": no further from exact than stock", detail);
  Check(threads_agree, name + ": the same bits on 1 to 4 threads");
  Check(alone_agrees, name + ": the same bits for a row alone and among others");

  const int64_t length = 100;
  Floats values = RandomFloats(4 * length, 1, random);
  const Floats weights = weighted ? RandomFloats(length, 1, random) : Floats{};
  const Floats clean = Norm(Side::kOurs, values, length, weights, 2);
  std::fill_n(values.begin(), length, 0.0f);
  values[1 * length + 5] = std::nanf("");
  values[2 * length + 7] = std::numeric_limits<float>::infinity();
  const Floats result = Norm(Side::kOurs, values, length, weights, 2);
  bool zeros = true;
  bool lost = true;
  for (int64_t i = 0; i < length; ++i) {
    zeros = zeros && result[i] == 0.0f;
    lost = lost && std::isnan(result[length + i]);
  }
  Check(zeros, name + ": zeros stay zeros");
  Check(lost, name + ": a row with NaN is lost");
  Check(std::isnan(result[2 * length + 7]), name + ": infinity becomes NaN");
  Check(SameBits(Floats(result.end() - length, result.end()),
                 Floats(clean.end() - length, clean.end())),
        name + ": such rows change no other");
}

Floats Rope(Side side, const Case& one, int threads = 1) {
  const auto operation = Operation::Rope(one);
  operation->Compute(side, threads);
  return operation->Result();
}

// Pairs that are the first and last values of a head, or neighbours.
bool IsInHalves(const Case& one) { return one.mode != GGML_ROPE_TYPE_NORMAL; }

// Expected results in doubles, by the cosines and sines that llama.cpp rotates (1, 0) into. The
// bound of each result's error: half a bit of either product.
void CheckRope(const std::string& kind, const Case& given) {
  std::mt19937 random(700);
  bool exact = true;
  bool rest = true;
  bool threads_agree = true;
  bool alone_agrees = true;
  bool again_agrees = true;
  for (const int turned : {32, 64, 80, 96, 128}) {
    for (const int64_t tokens : {1, 3, 33}) {
      Case one = given;
      one.turned = turned;
      one.size = turned + (random() % 2 == 0 ? 0 : 32);
      one.heads = 1 + static_cast<int64_t>(random() % 5);
      one.stride = one.heads + static_cast<int64_t>(random() % 2);
      const int parts = (one.mode & GGML_ROPE_TYPE_MROPE) != 0 ? 4 : 1;
      for (int64_t i = 0; i < parts * tokens; ++i) {
        one.positions.push_back(static_cast<int32_t>(random() % 40'000));
      }
      if (!given.factors.empty()) {
        one.factors.resize(static_cast<size_t>(turned / 2));
        for (float& factor : one.factors) factor = 1 + static_cast<float>(random() % 100) / 10;
      }
      one.values = RandomFloats(tokens * one.stride * one.size, 3, random);

      Case unit = one;
      for (size_t i = 0; i < unit.values.size(); ++i) {
        const auto at = static_cast<int64_t>(i) % one.size;
        const bool first = IsInHalves(one) ? at < turned / 2 : at % 2 == 0;
        unit.values[i] = first ? 1.0f : 0.0f;
      }
      const Floats table = Rope(Side::kStock, unit);
      const Floats result = Rope(Side::kOurs, one);
      for (int64_t t = 0; t < tokens; ++t) {
        for (int64_t h = 0; h < one.heads; ++h) {
          const float* from = one.values.data() + (t * one.stride + h) * one.size;
          const int64_t at = (t * one.heads + h) * one.size;
          for (int64_t i = 0; i < turned / 2; ++i) {
            const int64_t x = IsInHalves(one) ? i : 2 * i;
            const int64_t y = IsInHalves(one) ? i + turned / 2 : 2 * i + 1;
            const double cosine = table[at + x];
            const double sine = table[at + y];
            const double bound = 1.2e-7 * (std::abs(from[x]) + std::abs(from[y]));
            const double error_x = from[x] * cosine - from[y] * sine - result[at + x];
            const double error_y = from[x] * sine + from[y] * cosine - result[at + y];
            exact = exact && std::abs(error_x) <= bound && std::abs(error_y) <= bound;
          }
          for (int64_t i = turned; i < one.size; ++i) rest = rest && result[at + i] == from[i];
        }
      }
      for (int threads = 2; threads <= 4; ++threads) {
        threads_agree = threads_agree && SameBits(result, Rope(Side::kOurs, one, threads));
      }
      // Other positions in between, many of which take the place of the first in what is kept.
      Case other = one;
      for (int32_t& position : other.positions) position += 2048;
      Rope(Side::kOurs, other);
      again_agrees = again_agrees && SameBits(result, Rope(Side::kOurs, one));

      Case last = one;
      last.positions.clear();
      for (int part = 0; part < parts; ++part) {
        last.positions.push_back(one.positions[static_cast<size_t>((part + 1) * tokens - 1)]);
      }
      last.values.assign(one.values.end() - one.stride * one.size, one.values.end());
      const Floats alone = Rope(Side::kOurs, last);
      alone_agrees = alone_agrees &&
                     SameBits(alone, Floats(result.end() - one.heads * one.size, result.end()));
    }
  }
  const std::string name = "RoPE, " + kind;
  Check(exact, name + ": by llama.cpp's angles, exact but for the last bit");
  Check(rest, name + ": values behind those that are turned stay");
  Check(threads_agree, name + ": the same bits on 1 to 4 threads");
  Check(again_agrees, name + ": the same bits after other positions");
  Check(alone_agrees, name + ": the same bits for a token alone and among others");
}

}  // namespace

void CheckRows() {
  CheckNorms(true);
  CheckNorms(false);
  Case one;
  CheckRope("halves", one);
  one.mode = GGML_ROPE_TYPE_NORMAL;
  CheckRope("neighbours", one);
  one.base = 1'000'000;
  one.scale = 0.25f;
  one.extrapolated = 1;
  CheckRope("neighbours, YaRN", one);
  one.mode = GGML_ROPE_TYPE_NEOX;
  one.factors = {1};
  CheckRope("halves, YaRN, frequency factors", one);
  one = Case{};
  one.mode = GGML_ROPE_TYPE_IMROPE;
  CheckRope("halves, interleaved M-RoPE", one);
}

}  // namespace oi::kernels::test
