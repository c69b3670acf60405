// exp() of floats. S: see attention.h.

#pragma once

namespace oi::kernels::simd {

// e^x = 2^n * e^r: n, the whole number that is nearest to x / ln2.
template <class S>
typename S::Vector PowerOf2In(typename S::Vector x) {
  return S::Round(S::Multiply(x, S::Set(1.44269504f)));
}

// e^r for that n, by the Taylor polynomial of degree 7, whose remainder for r in [-ln2/2, ln2/2] is
// below 6e-9. Of x from -2^21 to 2^21; NaN for NaN.
template <class S>
typename S::Vector ExpOfRest(typename S::Vector x, typename S::Vector n) {
  auto r = S::NegativeMultiplyAdd(n, S::Set(0.693145752f), x);
  r = S::NegativeMultiplyAdd(n, S::Set(1.42860677e-6f), r);
  auto p = S::Set(1.0f / 5040);
  p = S::MultiplyAdd(p, r, S::Set(1.0f / 720));
  p = S::MultiplyAdd(p, r, S::Set(1.0f / 120));
  p = S::MultiplyAdd(p, r, S::Set(1.0f / 24));
  p = S::MultiplyAdd(p, r, S::Set(1.0f / 6));
  p = S::MultiplyAdd(p, r, S::Set(0.5f));
  p = S::MultiplyAdd(p, r, S::Set(1.0f));
  return S::MultiplyAdd(p, r, S::Set(1.0f));
}

// Of floats up to 87; 0 for -infinity, NaN for NaN.
template <class S>
typename S::Vector Exp(typename S::Vector x) {
  // e^-105 rounds to 0. With NaN, max gives its second operand.
  x = S::Max(S::Set(-105.0f), x);
  const auto n = PowerOf2In<S>(x);
  return S::TimesPowerOf2(ExpOfRest<S>(x, n), n);
}

}  // namespace oi::kernels::simd
