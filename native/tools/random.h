// Random tensor values that depend on the seed, the tensor's name and the index, and on
// nothing else: any number of threads fills a tensor to the same bits.

#pragma once

#include <cstdint>

#include "architecture.h"

namespace oi {

// Writes the values with indices [begin, begin + count) of `tensor` to `out`.
void FillValues(const Tensor& tensor, uint64_t seed, int64_t begin, int64_t count, float* out);

}  // namespace oi
