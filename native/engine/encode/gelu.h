// GELU as heads have it: exact, with erf.

#pragma once

#include <cmath>

namespace oi {

inline float GeluByErf(float x) { return 0.5f * x * (1.0f + std::erf(x * 0.70710678f)); }

}  // namespace oi
