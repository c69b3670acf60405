// Rows (../rows.h) for any kind of registers.
//
// S: as for attention.h, of which this uses all that is about floats, and
//   Doubles                    kLanes doubles
//   NoDoubles() Sum(a, b)      zeros; the sum of all in both
//   AddSquares(sums, x)        sums + x * x in doubles
//   SquareRoot(x)              of one float
//   SwapNeighbours(x)          x1 x0 x3 x2 ...
//   StoreF16(at, x) StoreBF16(at, x)  rounded to the nearest

#pragma once

#include <algorithm>

#include "../rows.h"
#include "exp.h"

namespace oi::kernels::simd {

template <class S>
void Norm(const float* values, const float* weights, int64_t count, float epsilon, float* result) {
  constexpr int64_t kLanes = S::kLanes;
  // Two, as one would wait for itself.
  auto even = S::NoDoubles();
  auto odd = S::NoDoubles();
  int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    even = S::AddSquares(even, S::Load(values + i));
    odd = S::AddSquares(odd, S::Load(values + i + kLanes));
  }
  double sum = S::Sum(even, odd);
  for (; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
  const auto mean = static_cast<float>(sum / static_cast<double>(count));
  const float scale = 1.0f / S::SquareRoot(mean + epsilon);

  const auto scales = S::Set(scale);
  i = 0;
  if (weights == nullptr) {
    for (; i + kLanes <= count; i += kLanes) {
      S::Store(result + i, S::Multiply(S::Load(values + i), scales));
    }
    for (; i < count; ++i) result[i] = values[i] * scale;
    return;
  }
  for (; i + kLanes <= count; i += kLanes) {
    const auto scaled = S::Multiply(S::Load(values + i), scales);
    S::Store(result + i, S::Multiply(scaled, S::Load(weights + i)));
  }
  for (; i < count; ++i) result[i] = values[i] * scale * weights[i];
}

template <class S>
void RopeHalves(const float* values, const float* table, int64_t pairs, float* result) {
  const float* cosines = table;
  const float* sines = table + pairs;
  int64_t i = 0;
  for (; i + S::kLanes <= pairs; i += S::kLanes) {
    const auto x = S::Load(values + i);
    const auto y = S::Load(values + pairs + i);
    const auto cosine = S::Load(cosines + i);
    const auto sine = S::Load(sines + i);
    S::Store(result + i, S::NegativeMultiplyAdd(y, sine, S::Multiply(x, cosine)));
    S::Store(result + pairs + i, S::MultiplyAdd(x, sine, S::Multiply(y, cosine)));
  }
  for (; i < pairs; ++i) {
    const float x = values[i];
    const float y = values[pairs + i];
    result[i] = x * cosines[i] - y * sines[i];
    result[pairs + i] = x * sines[i] + y * cosines[i];
  }
}

template <class S>
void RopeNeighbours(const float* values, const float* table, int64_t pairs, float* result) {
  const int64_t count = 2 * pairs;
  const float* cosines = table;
  const float* sines = table + count;
  int64_t i = 0;
  for (; i + S::kLanes <= count; i += S::kLanes) {
    const auto x = S::Load(values + i);
    const auto turned = S::Multiply(x, S::Load(cosines + i));
    S::Store(result + i, S::MultiplyAdd(S::SwapNeighbours(x), S::Load(sines + i), turned));
  }
  for (; i < count; i += 2) {
    const float x = values[i];
    const float y = values[i + 1];
    result[i] = x * cosines[i] + y * sines[i];
    result[i + 1] = y * cosines[i + 1] + x * sines[i + 1];
  }
}

template <class S>
typename S::Vector Swiglu(typename S::Vector gates, typename S::Vector values) {
  const auto one = S::Set(1.0f);
  // Below -80 the exact result is no more than 1e-33 of the value; with NaN, max gives its second
  // operand.
  const auto exp = Exp<S>(S::Subtract(S::Zero(), S::Max(S::Set(-80.0f), gates)));
  return S::Multiply(S::Multiply(gates, S::Reciprocal(S::Add(one, exp))), values);
}

template <class S>
typename S::Vector Gelu(typename S::Vector x) {
  constexpr float kLinear = 1.59576912f;  // 2 sqrt(2 / pi)
  const auto factor =
      S::MultiplyAdd(S::Multiply(x, x), S::Set(kLinear * 0.044715f), S::Set(kLinear));
  const auto power = S::Max(S::Set(-80.0f), S::Multiply(x, factor));
  const auto exp = Exp<S>(S::Subtract(S::Zero(), power));
  return S::Multiply(x, S::Reciprocal(S::Add(S::Set(1.0f), exp)));
}

// result[i] = gate(gates[i], values[i]); without values, these are 1.
template <class S, class Gate>
void Gated(const float* gates, const float* values, int64_t count, float* result, Gate gate) {
  const auto one = S::Set(1.0f);
  int64_t i = 0;
  for (; i + S::kLanes <= count; i += S::kLanes) {
    const auto value = values == nullptr ? one : S::Load(values + i);
    S::Store(result + i, gate(S::Load(gates + i), value));
  }
  if (i == count) return;
  float last[3][S::kLanes] = {};
  std::copy(gates + i, gates + count, last[0]);
  std::fill(last[1], last[1] + S::kLanes, 1.0f);
  if (values != nullptr) std::copy(values + i, values + count, last[1]);
  S::Store(last[2], gate(S::Load(last[0]), S::Load(last[1])));
  std::copy_n(last[2], count - i, result + i);
}

template <class S>
void Swiglu(const float* gates, const float* values, int64_t count, float* result) {
  using Vector = typename S::Vector;
  Gated<S>(gates, values, count, result, [](Vector x, Vector y) { return Swiglu<S>(x, y); });
}

template <class S>
void Gelu(const float* gates, const float* values, int64_t count, float* result) {
  using Vector = typename S::Vector;
  Gated<S>(gates, values, count, result,
           [](Vector x, Vector y) { return S::Multiply(Gelu<S>(x), y); });
}

// The sum of a register's values, in an order of its own.
template <class S>
float SumOf(typename S::Vector x) {
  alignas(64) float values[S::kLanes];
  S::Store(values, x);
  for (int64_t half = S::kLanes / 2; half > 0; half /= 2) {
    for (int64_t i = 0; i < half; ++i) values[i] += values[i + half];
  }
  return values[0];
}

template <class S>
void LayerNorm(float* row, const float* added, const float* bias, const float* weights,
               const float* shift, int64_t count, float epsilon) {
  auto sum = S::Zero();
  for (int64_t i = 0; i < count; i += S::kLanes) {
    auto x = S::Load(row + i);
    if (added != nullptr) x = S::Add(x, S::Load(added + i));
    if (bias != nullptr) x = S::Add(x, S::Load(bias + i));
    S::Store(row + i, x);
    sum = S::Add(sum, x);
  }
  const auto n = static_cast<float>(count);
  const auto mean = S::Set(SumOf<S>(sum) / n);
  auto squares = S::Zero();
  for (int64_t i = 0; i < count; i += S::kLanes) {
    const auto x = S::Subtract(S::Load(row + i), mean);
    squares = S::MultiplyAdd(x, x, squares);
  }
  const auto scale = S::Set(1.0f / S::SquareRoot(SumOf<S>(squares) / n + epsilon));
  for (int64_t i = 0; i < count; i += S::kLanes) {
    const auto x = S::Multiply(S::Subtract(S::Load(row + i), mean), scale);
    S::Store(row + i, S::MultiplyAdd(x, S::Load(weights + i), S::Load(shift + i)));
  }
}

template <class S>
void AddBias(float* row, const float* bias, int64_t count) {
  for (int64_t i = 0; i < count; i += S::kLanes) {
    S::Store(row + i, S::Add(S::Load(row + i), S::Load(bias + i)));
  }
}

template <class S>
void BiasGelu(float* row, const float* bias, int64_t count) {
  for (int64_t i = 0; i < count; i += S::kLanes) {
    S::Store(row + i, Gelu<S>(S::Add(S::Load(row + i), S::Load(bias + i))));
  }
}

template <class S>
void ToCell(const float* values, const float* bias, int64_t count, CacheFormat format,
            uint8_t* cell) {
  for (int64_t i = 0; i < count; i += S::kLanes) {
    const auto x = S::Add(S::Load(values + i), S::Load(bias + i));
    if (format == CacheFormat::kF32) {
      S::Store(reinterpret_cast<float*>(cell) + i, x);
    } else if (format == CacheFormat::kF16) {
      S::StoreF16(cell + 2 * i, x);
    } else {
      S::StoreBF16(cell + 2 * i, x);
    }
  }
}

template <class S>
constexpr RowKernel kRows{Norm<S>,      RopeHalves<S>, RopeNeighbours<S>, Swiglu<S>, Gelu<S>,
                          LayerNorm<S>, AddBias<S>,    BiasGelu<S>,       ToCell<S>};

}  // namespace oi::kernels::simd
