// The normaliser of a row of logits.

#pragma once

#include <cstddef>

namespace oi {

// log(sum_i exp(x[i])), nats. Shape [n], n >= 1; entries that are not finite count as
// zero; NaN if all are. Error below 5e-6: a row is the whole vocabulary (some
// 150,000 entries), so the exponential is a polynomial in float that the compiler
// vectorises, summed in blocks into a double.
double LogSumExp(const float* x, size_t n);

}  // namespace oi
