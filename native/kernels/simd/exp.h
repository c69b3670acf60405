// exp() of floats. S: see attention.h.

#pragma once

namespace oi::kernels::simd {

// 2^n * e^r with r in [-ln2/2, ln2/2] and the Taylor polynomial of degree 7, whose remainder there
// is below 6e-9. Of floats up to 87; 0 for -infinity, NaN for NaN.
template <class S>
typename S::Vector Exp(typename S::Vector x) {
  // e^-105 rounds to 0. With NaN, max gives its second operand.
  x = S::Max(S::Set(-105.0f), x);
  const auto n = S::Round(S::Multiply(x, S::Set(1.44269504f)));
  auto r = S::NegativeMultiplyAdd(n, S::Set(0.693145752f), x);
  r = S::NegativeMultiplyAdd(n, S::Set(1.42860677e-6f), r);
  auto p = S::Set(1.0f / 5040);
  p = S::MultiplyAdd(p, r, S::Set(1.0f / 720));
  p = S::MultiplyAdd(p, r, S::Set(1.0f / 120));
  p = S::MultiplyAdd(p, r, S::Set(1.0f / 24));
  p = S::MultiplyAdd(p, r, S::Set(1.0f / 6));
  p = S::MultiplyAdd(p, r, S::Set(0.5f));
  p = S::MultiplyAdd(p, r, S::Set(1.0f));
  p = S::MultiplyAdd(p, r, S::Set(1.0f));
  return S::TimesPowerOf2(p, n);
}

}  // namespace oi::kernels::simd
