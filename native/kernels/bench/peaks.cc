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

double (*PeakOf(Weights weights))() {
  const std::string set = Description();
  const bool floats = weights != Weights::kQuantized;
#ifdef OI_KERNELS_AMX
  if (set.find("AMX") == 0 && weights != Weights::kF16) return amx::PeakBf16;
#endif
#ifdef OI_KERNELS_AVX512
  if (set.find("AVX-512") != std::string::npos) {
    const bool bf16 = weights == Weights::kBF16 && set.find("BF16") != std::string::npos;
    return bf16 ? avx512::PeakBf16 : floats ? avx512::PeakFloat : avx512::PeakInt8;
  }
#endif
  if (floats) return avx2::PeakFloat;
#ifdef OI_KERNELS_AVX_VNNI
  if (set.find("AVX-VNNI") != std::string::npos) return avx2::PeakInt8Vnni;
#endif
  return avx2::PeakInt8;
}

}  // namespace oi::kernels::test
