// The formats of ../simd in the form of weights.h, and all weights for ../simd/formats.h.

#pragma once

#include "lanes.h"
#include "weights.h"

namespace oi::kernels::avx2 {
namespace {  // sources for other instructions have their own

template <template <class> class Code>
class Coded {
 public:
  static constexpr Format kFormat = Code<Lanes>::kFormat;
  static constexpr int kOffset = Code<Lanes>::kOffset;
  static constexpr int kLargest = Code<Lanes>::kLargest;
  static constexpr int kHalves = Code<Lanes>::kHalves;
  static constexpr int kMins = Code<Lanes>::kMins;
  static constexpr int kPlaces = 1;
  static constexpr int64_t kUnpackAbove = kAlwaysUnpack;

  Coded(const uint8_t* tile, int64_t k) : code_(tile, k) {}
  void At(int64_t block) { code_.At(block); }
  template <int>
  __m256i Step(int s, int v) const {
    return code_.Step(s, v);
  }
  void Scales(int64_t begin, int64_t end, float* to) const {
    for (int64_t block = begin; block < end; ++block) {
      for (int i = 0; i < 2 * kHalves; ++i, to += 8) {
        _mm256_store_ps(to, code_.Scale(block, i / 2, i % 2));
      }
      if constexpr (kMins > 0) {
        for (int i = 0; i < 2 * kMins; ++i, to += 8) {
          _mm256_store_ps(to, code_.Min(block, i / 2, i % 2));
        }
      }
    }
  }

 private:
  Code<Lanes> code_;
};

struct Weights {
  using Q8_0 = WeightsQ8_0;
  using Q4_0 = WeightsQ4_0;
  using Q4_K = WeightsQ4_K;
  using Q5_K = WeightsQ5_K;
  using Q6_K = WeightsQ6_K;
  template <template <class> class Code>
  using Of = Coded<Code>;
};

}  // namespace
}  // namespace oi::kernels::avx2
