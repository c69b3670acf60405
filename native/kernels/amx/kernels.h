// The kernels of the AMX tier.

#pragma once

#include "../attention.h"
#include "../product.h"

namespace oi::kernels::amx {

// Whether the operating system lets this process use the tile registers; asks for it.
bool Allowed();

// AMX with BF16; AVX-512 F, BW, DQ, VL and BF16. Null for F16.
const ProductKernel* Product(Format format);

// The same.
const AttentionKernel* Attention();

}  // namespace oi::kernels::amx
