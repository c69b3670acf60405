// Products of quantized weights on AVX2 with AVX-VNNI.

#include "kernels.h"
#include "product_int8.h"

namespace oi::kernels::avx2 {
namespace {

struct Dpbusd {
  static __m256i Add(__m256i sum, __m256i weights, __m256i activations) {
    return _mm256_dpbusd_avx_epi32(sum, weights, activations);
  }
};

template <class W>
using Dots = FusedDots<W, Dpbusd>;

}  // namespace

const ProductKernel* Int8ProductVnni(Format format) { return FindInt8Product<Dots>(format); }

}  // namespace oi::kernels::avx2
