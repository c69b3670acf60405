// The set of AVX-VNNI with its one instruction done by others, for CPUs that have AVX2 alone.

#pragma once

#include "../sets.h"

namespace oi::kernels::test {

extern const KernelSet kEmulatedVnni;

}  // namespace oi::kernels::test
