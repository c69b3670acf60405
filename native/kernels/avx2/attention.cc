// Attention (../simd/attention.h) on AVX2.

#include "../simd/attention.h"

#include "kernels.h"
#include "registers.h"

namespace oi::kernels::avx2 {
namespace {

struct Here;

}  // namespace

const AttentionKernel* Attention() { return &simd::kAttention<Registers<Here>>; }

}  // namespace oi::kernels::avx2
