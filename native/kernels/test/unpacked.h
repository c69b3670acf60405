// How the AMX set unpacks quants: without tile registers, so that it is tested where there are
// none.

#pragma once

#include <cstddef>
#include <cstdint>

#include "../format.h"

namespace oi::kernels::test {

bool UnpacksHere();

// One tile of k values. to: [k / 2][16 rows][2], BF16.
void UnpackForAmx(Format format, const uint8_t* tile, int64_t k, uint8_t* to);

}  // namespace oi::kernels::test
