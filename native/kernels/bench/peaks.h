// The register peak of the set of kernels in use.

#pragma once

namespace oi::kernels::test {

enum class Weights { kQuantized, kBF16, kF16 };

// Work for one thread; returns the number of its operations.
double (*PeakOf(Weights weights))();

}  // namespace oi::kernels::test
