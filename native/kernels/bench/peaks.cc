#include "peaks.h"

#include <string>

#include "../avx2/peak.h"
#include "../kernels.h"

#ifdef OI_KERNELS_AVX512
#include "../avx512/peak.h"
#endif
#ifdef OI_KERNELS_AMX
#include "../amx/peak.h"
#endif

namespace oi::kernels::test {

namespace {

bool Has(const char* instructions) { return Description().find(instructions) != std::string::npos; }

}  // namespace

Peak PeakOf(Weights weights) {
#ifdef OI_KERNELS_AMX
  if (Has("AMX") && weights != Weights::kFloats) return amx::PeakBf16;
#endif
  return VectorPeakOf(weights);
}

Peak VectorPeakOf(Weights weights) {
  const bool floats = weights != Weights::kQuantized;
#ifdef OI_KERNELS_AVX512
  if (Has("AVX-512")) {
    // Where there is AMX, there are products of BF16 in vectors as well.
    const bool bf16 = weights == Weights::kBF16 && (Has("BF16") || Has("AMX"));
    return bf16 ? avx512::PeakBf16 : floats ? avx512::PeakFloat : avx512::PeakInt8;
  }
#endif
  if (floats) return avx2::PeakFloat;
#ifdef OI_KERNELS_AVX_VNNI
  if (Has("AVX-VNNI")) return avx2::PeakInt8Vnni;
#endif
  return avx2::PeakInt8;
}

}  // namespace oi::kernels::test
