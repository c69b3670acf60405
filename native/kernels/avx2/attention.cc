// Attention (../simd/attention.h) on AVX2.

#include "../simd/attention.h"

#include "../simd/part_attention.h"
#include "kernels.h"
#include "registers.h"

namespace oi::kernels::avx2 {
namespace {

struct Here;

}  // namespace

const AttentionKernel* Attention() { return &simd::kAttention<Registers<Here>>; }

const PartAttentionKernel* PartAttention() { return &simd::kPartAttention<Registers<Here>>; }

}  // namespace oi::kernels::avx2
