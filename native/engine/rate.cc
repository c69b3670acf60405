#include "rate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace oi {
namespace {

// Below it, times are the clock's noise.
constexpr double kLeastMs = 0.01;
// Terms that are collinear up to this determine their sum alone.
constexpr double kCollinear = 1e-9;
// A further term must explain this part of what is left: else noise would choose it.
constexpr double kWorthTerm = 0.02;

}  // namespace

void Rate::Add(Sums& sums, double keep, const Work& work, double ms) {
  const double weight = 1 / std::max(ms, kLeastMs);
  const Row x{weight, work.tokens * weight, work.attended * weight};
  for (size_t i = 0; i < kTerms; ++i) {
    for (size_t k = 0; k < kTerms; ++k) sums.xx[i][k] = keep * sums.xx[i][k] + x[i] * x[k];
    sums.xm[i] = keep * sums.xm[i] + x[i];
  }
  sums.steps = keep * sums.steps + 1;
  sums.tokens = keep * sums.tokens + work.tokens;
}

// Tries every set of terms, the smaller ones first, by Cholesky's decomposition; a set counts if
// none of its factors is negative.
Rate::Row Rate::Fit() const {
  Sums sums = lasting_;
  for (size_t i = 0; i < kTerms; ++i) {
    for (size_t k = 0; k < kTerms; ++k) sums.xx[i][k] += recent_.xx[i][k];
    sums.xm[i] += recent_.xm[i];
  }
  sums.steps += recent_.steps;
  constexpr std::array<std::pair<size_t, std::array<size_t, kTerms>>, 6> sets{{
      {1, {1}},
      {1, {0}},
      {2, {0, 1}},
      {2, {1, 2}},
      {2, {0, 2}},
      {3, {0, 1, 2}},
  }};
  Row best{};
  double least = sums.steps;  // of the relative errors' squares, without any term
  for (const auto& [count, terms] : sets) {
    double lower[kTerms][kTerms]{};
    double solution[kTerms]{};
    bool valid = true;
    for (size_t i = 0; i < count && valid; ++i) {
      for (size_t k = 0; k <= i; ++k) {
        double sum = sums.xx[terms[i]][terms[k]];
        for (size_t j = 0; j < k; ++j) sum -= lower[i][j] * lower[k][j];
        if (i == k) {
          valid = sum > kCollinear * sums.xx[terms[i]][terms[i]];
          lower[i][i] = valid ? std::sqrt(sum) : 1;
        } else {
          lower[i][k] = sum / lower[k][k];
        }
      }
    }
    if (!valid) continue;
    for (size_t i = 0; i < count; ++i) {
      double sum = sums.xm[terms[i]];
      for (size_t j = 0; j < i; ++j) sum -= lower[i][j] * solution[j];
      solution[i] = sum / lower[i][i];
    }
    for (size_t i = count; i-- > 0;) {
      for (size_t j = i + 1; j < count; ++j) solution[i] -= lower[j][i] * solution[j];
      solution[i] /= lower[i][i];
      valid = valid && solution[i] >= 0;
    }
    if (!valid) continue;
    // At the minimum, what is left is steps − solution · xm.
    double left = sums.steps;
    for (size_t i = 0; i < count; ++i) left -= solution[i] * sums.xm[terms[i]];
    left = std::max(0.0, left);
    if (left >= (1 - kWorthTerm) * least) continue;
    least = left;
    best = {};
    for (size_t i = 0; i < count; ++i) best[terms[i]] = solution[i];
  }
  return best;
}

double Rate::StepMs(const Work& work) const {
  const auto [c, a, b] = Fit();
  return c + a * work.tokens + b * work.attended;
}

double Rate::Ms(const Work& work) const {
  const auto [c, a, b] = Fit();
  const Sums& seen = recent_.steps > 0 ? recent_ : lasting_;
  const double steps = seen.tokens > 0 ? work.tokens * seen.steps / seen.tokens : 0;
  return c * steps + a * work.tokens + b * work.attended;
}

size_t Rate::TokensIn(double ms, size_t least, size_t most) const {
  const auto [c, a, b] = Fit();
  // What a token attends to, as in recent steps; at the start, its own step.
  const double attends =
      recent_.xx[1][1] > 0 ? recent_.xx[1][2] / recent_.xx[1][1] : static_cast<double>(most) / 2;
  const double token = a + b * attends;
  for (size_t size = most; size > least; size /= 2) {
    for (const size_t tokens : {size, size / 4 * 3}) {
      if (tokens > least && c + token * static_cast<double>(tokens) <= ms) return tokens;
    }
  }
  return least;
}

}  // namespace oi
