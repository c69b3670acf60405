#include "random.h"

#include <cmath>
#include <string_view>

namespace oi {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;

// The finalizer of SplitMix64: a bijection that turns a counter into random bits.
inline uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

uint64_t StreamKey(std::string_view name, uint64_t seed) {
  uint64_t key = Mix(seed + kGolden);
  for (const char c : name) key = Mix((key ^ static_cast<unsigned char>(c)) + kGolden);
  return key;
}

inline uint64_t BitsAt(uint64_t key, int64_t index) {
  return Mix(key + kGolden * static_cast<uint64_t>(index));
}

// Nearly standard normal, within 3.5 deviations: the sum of four uniform 16-bit numbers.
// Ten times faster than a logarithm and a cosine, and the same on every machine.
inline float Normal(uint64_t bits) {
  constexpr int32_t kMean = 2 * 65535;
  constexpr float kDeviation = 65536.0f / 1.7320508f;
  const int32_t sum = static_cast<int32_t>((bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) +
                                           ((bits >> 32) & 0xFFFF) + (bits >> 48));
  return static_cast<float>(sum - kMean) * (1.0f / kDeviation);
}

inline float Uniform(uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-24f; }

float Deviation(const Tensor& tensor) {
  return tensor.gain / std::sqrt(static_cast<float>(tensor.dims[0]));
}

}  // namespace

void FillValues(const Tensor& tensor, uint64_t seed, int64_t begin, int64_t count, float* out) {
  const uint64_t key = StreamKey(tensor.name, seed);
  switch (tensor.fill) {
    case Fill::kMatrix:
    case Fill::kConvolution: {
      const float deviation = Deviation(tensor);
      for (int64_t i = 0; i < count; ++i) out[i] = deviation * Normal(BitsAt(key, begin + i));
      return;
    }
    case Fill::kNorm:
      for (int64_t i = 0; i < count; ++i) {
        out[i] = tensor.gain * (1.0f + 0.05f * Normal(BitsAt(key, begin + i)));
      }
      return;
    case Fill::kDecay:
      for (int64_t i = 0; i < count; ++i) out[i] = -1.0f - 15.0f * Uniform(BitsAt(key, begin + i));
      return;
    case Fill::kTimeStep:
      for (int64_t i = 0; i < count; ++i) {
        const double step = 0.001 * std::pow(100.0, Uniform(BitsAt(key, begin + i)));
        out[i] = static_cast<float>(std::log(std::expm1(step)));  // the inverse of softplus
      }
      return;
  }
}

}  // namespace oi
