#include "log_sum_exp.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace oi {
namespace {

constexpr size_t kLanes = 16;
constexpr size_t kBlock = 1024;  // float partial sums stay short

// exp(x) for x in [-87, 0]: 2^k * e^r with r in [-ln2/2, ln2/2] and the Taylor polynomial of
// degree 6, whose remainder there is below 1.3e-7. Smaller x do not change the sum.
inline float ExpNonPositive(float x) {
  x = std::max(x, -87.0f);
  // Adding 1.5 * 2^23 rounds to an integer that stands in the low bits.
  constexpr float kMagic = 12582912.0f;
  const float shifted = x * 1.44269504f + kMagic;
  const float k = shifted - kMagic;
  const float r = (x - k * 0.693145752f) - k * 1.42860677e-6f;
  float p = 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const int32_t exponent = static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) << 23);
  return std::bit_cast<float>(std::bit_cast<int32_t>(p) + exponent);
}

// Slow, and needed only where a weight of the output head is not finite.
double LogSumExpOfFinite(const float* x, size_t n) {
  double max = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < n; ++i) {
    if (std::isfinite(x[i])) max = std::max(max, static_cast<double>(x[i]));
  }
  if (std::isinf(max)) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    if (std::isfinite(x[i])) sum += std::exp(x[i] - max);
  }
  return max + std::log(sum);
}

}  // namespace

double LogSumExp(const float* x, size_t n) {
  // NaN or infinity; without a branch, so that it is vectorized.
  int32_t wrong = 0;
  for (size_t i = 0; i < n; ++i) wrong += !(x[i] <= std::numeric_limits<float>::max());
  if (wrong > 0) return LogSumExpOfFinite(x, n);
  float lane_max[kLanes];
  std::fill_n(lane_max, kLanes, -std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j)
      lane_max[j] = x[i + j] > lane_max[j] ? x[i + j] : lane_max[j];
  }
  float max = *std::max_element(lane_max, lane_max + kLanes);
  for (; i < n; ++i) max = std::max(max, x[i]);
  double sum = 0;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = std::min(n, begin + kBlock);
    float partial[kLanes] = {};
    size_t k = begin;
    for (; k + kLanes <= end; k += kLanes) {
      for (size_t j = 0; j < kLanes; ++j) partial[j] += ExpNonPositive(x[k + j] - max);
    }
    for (; k < end; ++k) partial[0] += ExpNonPositive(x[k] - max);
    for (const float value : partial) sum += value;
  }
  return static_cast<double>(max) + std::log(sum);
}

}  // namespace oi
