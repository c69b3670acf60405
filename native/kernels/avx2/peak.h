#pragma once

namespace oi::kernels::avx2 {

// Work for one thread with operands in registers, some milliseconds of it. Each returns the number
// of its operations, a multiplication and an addition being two.
double PeakInt8();      // products of bytes, added in 16 bits: the most that AVX2 alone can do
double PeakInt8Vnni();  // needs AVX-VNNI
double PeakFloat();

}  // namespace oi::kernels::avx2
