#pragma once

namespace oi::kernels::amx {

// Does a fixed number of operations in tile registers alone, and returns it. Needs AMX with BF16.
double PeakBf16();

}  // namespace oi::kernels::amx
