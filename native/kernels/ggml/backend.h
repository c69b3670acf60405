// Our part in ggml's CPU backend.

#pragma once

namespace oi::kernels {

// Whether what this thread loads now uses the kernels.
bool IsUsedHere();
// Whether it is to stay in RAM.
bool IsLockedHere();

}  // namespace oi::kernels
