// Products of quantized weights on AVX2 alone.

#include "product_int8.h"

#include "kernels.h"

namespace oi::kernels::avx2 {

const ProductKernel* Int8Product(Format format) { return FindInt8Product<MaddDots>(format); }

}  // namespace oi::kernels::avx2
