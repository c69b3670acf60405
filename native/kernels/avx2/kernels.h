// The kernels of the AVX2 sets, each in a source of its own, compiled for what it needs.

#pragma once

#include "../attention.h"
#include "../part_attention.h"
#include "../product.h"
#include "../rows.h"

namespace oi::kernels::avx2 {

// AVX2, FMA and F16C. Null for the formats that are not quantized.
const ProductKernel* Int8Product(Format format);

// And AVX-VNNI.
const ProductKernel* Int8ProductVnni(Format format);

// AVX2, FMA and F16C. Null for the formats that are quantized.
const ProductKernel* FloatProduct(Format format);

// AVX2 and FMA.
const ProductKernel* F32Product();

// AVX2, FMA and F16C.
const AttentionKernel* Attention();
const PartAttentionKernel* PartAttention();

// AVX2 and FMA.
const RowKernel* Rows();

}  // namespace oi::kernels::avx2
