#include "unpacked.h"

#ifdef OI_KERNELS_AVX512
#include "../amx/unpack.h"
#include "../simd/formats.h"
#endif

namespace oi::kernels::test {

#ifdef OI_KERNELS_AVX512
bool UnpacksHere() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

void UnpackForAmx(Format format, const uint8_t* tile, int64_t k, uint8_t* to) {
  using Function = void (*)(const uint8_t*, int64_t, int64_t, int64_t, uint8_t*);
  const auto unpack = simd::FindWeights<avx512::Weights>(
      format, []<class W>() -> Function { return amx::Unpack<W>; });
  unpack(tile, k, 0, k / kBlock, to);
}
#else
bool UnpacksHere() { return false; }
void UnpackForAmx(Format, const uint8_t*, int64_t, uint8_t*) {}
#endif

}  // namespace oi::kernels::test
