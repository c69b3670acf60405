#pragma once

namespace oi::kernels::avx512 {

// Work for one thread with operands in registers, some milliseconds of it. Each returns the number
// of its operations, a multiplication and an addition being two.
double PeakInt8();
double PeakBf16();  // needs AVX-512 BF16
double PeakFloat();

}  // namespace oi::kernels::avx512
