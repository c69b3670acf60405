// The kernels of the AVX-512 tier, each in a source of its own, compiled for what it needs.

#pragma once

#include "../attention.h"
#include "../part_attention.h"
#include "../product.h"
#include "../rows.h"

namespace oi::kernels::avx512 {

// AVX-512 F, BW, DQ, VL and VNNI. Null for the formats that are not quantized.
const ProductKernel* Int8Product(Format format);

// And BF16.
const ProductKernel* Bf16Product();

// AVX-512 F and DQ. Null for the quantized formats.
const ProductKernel* FloatProduct(Format format);
const ProductKernel* F32Product();

// AVX-512 F, BW, DQ and VL.
const AttentionKernel* Attention();
const PartAttentionKernel* PartAttention();

// AVX-512 F, BW, DQ and VL.
const RowKernel* Rows();

}  // namespace oi::kernels::avx512
