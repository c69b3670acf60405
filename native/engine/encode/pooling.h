// One vector of a pass' hidden states, as llama.cpp's pooling types have it.

#pragma once

#include <vector>

#include "hidden_readout.h"

namespace oi {

enum class Pooling { kMean, kFirst, kLast };

inline std::vector<float> Pool(const PassStates& states, Pooling pooling) {
  const size_t count = states.count;
  const size_t only = pooling == Pooling::kFirst ? 0 : count - 1;
  if (pooling != Pooling::kMean) return {states.Of(only), states.Of(only) + states.width};
  std::vector<float> mean(states.width);
  for (size_t token = 0; token < count; ++token) {
    const float* row = states.Of(token);
    for (size_t i = 0; i < states.width; ++i) mean[i] += row[i];
  }
  for (float& value : mean) value /= static_cast<float>(count);
  return mean;
}

}  // namespace oi
