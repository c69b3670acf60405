// What the registers that the set of kernels in use has can do.

#pragma once

namespace oi::kernels::test {

enum class Weights { kQuantized, kBF16, kFloats };

// Work for one thread; returns the number of its operations.
using Peak = double (*)();

// Of the registers that products of these weights take.
Peak PeakOf(Weights weights);
// Of vector registers alone.
Peak VectorPeakOf(Weights weights);

}  // namespace oi::kernels::test
