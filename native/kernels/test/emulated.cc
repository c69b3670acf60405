#include "emulated.h"

#include "../avx2/kernels.h"
#include "../avx2/product_int8.h"

namespace oi::kernels::test {
namespace {

// In 32 bits throughout, value by value: nothing can overflow.
struct EmulatedDpbusd {
  static __m256i Add(__m256i sum, __m256i weights, __m256i activations) {
    const __m256i even = _mm256_set1_epi16(0x00FF);
    const __m256i low = _mm256_srai_epi16(_mm256_slli_epi16(activations, 8), 8);
    const __m256i high = _mm256_srai_epi16(activations, 8);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_and_si256(weights, even), low));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_srli_epi16(weights, 8), high));
  }
};

template <class W>
using EmulatedDots = avx2::FusedDots<W, EmulatedDpbusd>;

const ProductKernel* Product(Format format) {
  const ProductKernel* quantized = avx2::FindInt8Product<EmulatedDots>(format);
  return quantized != nullptr ? quantized : avx2::FloatProduct(format);
}

bool RunsHere() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
}

}  // namespace

const KernelSet kEmulatedVnni{
    "avx-vnni-emulated", "AVX-VNNI, emulated", RunsHere,  Product, Product,
    avx2::Attention,     avx2::Attention,      avx2::Rows};

}  // namespace oi::kernels::test
