#include "readout.h"

#include <algorithm>

#include "error.h"
#include "finite.h"
#include "llama.h"
#include "log_sum_exp.h"

namespace oi {

const float* Readout::Row(int32_t row) const {
  const float* const logits = llama_get_logits_ith(context_.get(), row);
  if (logits == nullptr) throw EngineError("ERR_ENGINE_INTERNAL", "llama.cpp gave no logits");
  return logits;
}

bool Readout::Read(size_t index, int32_t row, std::span<const Token> candidates, float* out,
                   int32_t& rank) {
  if (on_device()) return context_.readout()->Read(index, out, rank);
  const float* const logits = Row(row);
  if (on_gpu_) whole_bytes_ += vocabulary_size_ * sizeof(float);
  bool finite = true;
  float likeliest = logits[candidates.front()];
  for (const Token candidate : candidates) {
    finite = finite && IsFinite(logits[candidate]);
    likeliest = std::max(likeliest, logits[candidate]);
    *out++ = logits[candidate];
  }
  rank = 0;
  for (size_t i = 0; i < vocabulary_size_; ++i) rank += logits[i] > likeliest ? 1 : 0;
  *out = static_cast<float>(LogSumExp(logits, vocabulary_size_));
  return finite && IsFinite(*out);
}

bool Readout::Finite(size_t index, int32_t row) const {
  if (on_device()) return context_.readout()->Finite(index);
  return 2 * CountFinite(Row(row), vocabulary_size_) > vocabulary_size_;
}

bool Readout::Leave() {
  if (!on_device()) return false;
  whole_ = true;
  return true;
}

uint64_t Readout::bytes() const {
  const DeviceReadout* const device = context_.readout();
  return whole_bytes_ + (device != nullptr ? device->bytes() : 0);
}

}  // namespace oi
