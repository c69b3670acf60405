// Which weights a set of kernels has for each format.

#pragma once

#include "grid_weights.h"
#include "plain_weights.h"
#include "tabled_weights.h"

namespace oi::kernels::simd {

// Returns what `found` returns when it is called with the weights of a format as template argument;
// null for formats that are no quants. Set: has weights of its own for some, and Of<Code> for those
// of this folder.
template <class Set, class Found>
constexpr auto FindWeights(Format format, const Found& found)
    -> decltype(found.template operator()<typename Set::Q8_0>()) {
  switch (format) {
    case Format::kQ8_0:
      return found.template operator()<typename Set::Q8_0>();
    case Format::kQ4_0:
      return found.template operator()<typename Set::Q4_0>();
    case Format::kQ4_1:
      return found.template operator()<typename Set::template Of<Q4_1>>();
    case Format::kQ5_0:
      return found.template operator()<typename Set::template Of<Q5_0>>();
    case Format::kQ5_1:
      return found.template operator()<typename Set::template Of<Q5_1>>();
    case Format::kQ2_K:
      return found.template operator()<typename Set::template Of<Q2_K>>();
    case Format::kQ3_K:
      return found.template operator()<typename Set::template Of<Q3_K>>();
    case Format::kQ4_K:
      return found.template operator()<typename Set::Q4_K>();
    case Format::kQ5_K:
      return found.template operator()<typename Set::Q5_K>();
    case Format::kQ6_K:
      return found.template operator()<typename Set::Q6_K>();
    case Format::kIQ1_S:
      return found.template operator()<typename Set::template Of<IQ1_S>>();
    case Format::kIQ1_M:
      return found.template operator()<typename Set::template Of<IQ1_M>>();
    case Format::kIQ2_XXS:
      return found.template operator()<typename Set::template Of<IQ2_XXS>>();
    case Format::kIQ2_XS:
      return found.template operator()<typename Set::template Of<IQ2_XS>>();
    case Format::kIQ2_S:
      return found.template operator()<typename Set::template Of<IQ2_S>>();
    case Format::kIQ3_XXS:
      return found.template operator()<typename Set::template Of<IQ3_XXS>>();
    case Format::kIQ3_S:
      return found.template operator()<typename Set::template Of<IQ3_S>>();
    case Format::kIQ4_NL:
      return found.template operator()<typename Set::template Of<IQ4_NL>>();
    case Format::kIQ4_XS:
      return found.template operator()<typename Set::template Of<IQ4_XS>>();
    case Format::kMXFP4:
      return found.template operator()<typename Set::template Of<MXFP4>>();
    case Format::kNVFP4:
      return found.template operator()<typename Set::template Of<NVFP4>>();
    case Format::kTQ2_0:
      return found.template operator()<typename Set::template Of<TQ2_0>>();
    case Format::kBF16:
    case Format::kF16:
    case Format::kF32:
      break;
  }
  return nullptr;
}

}  // namespace oi::kernels::simd
