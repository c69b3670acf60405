#include "readout.h"

#include <algorithm>

#include "../error.h"
#include "../finite.h"
#include "llama.h"
#include "log_sum_exp.h"

namespace oi {

void Readout::Ask(const std::vector<ScoringTask*>& tasks, bool whole) {
  DeviceReadout* const device = context_.readout();
  if (device == nullptr) return;
  device->Start(!whole && !always_whole_);
  for (const ScoringTask* task : tasks) {
    for (const ScoringTask::Run& run : task->runs()) {
      if (run.row >= 0) device->Ask(run.fork, task->question(run).candidates);
    }
  }
  device->Prepare();
}

void Readout::Read(const std::vector<ScoringTask*>& tasks) {
  const bool device = on_device();
  if (device) context_.readout()->Fetch();
  size_t index = 0;
  for (ScoringTask* task : tasks) {
    for (size_t i = 0; i < task->runs().size(); ++i) {
      const ScoringTask::Run& run = task->runs()[i];
      if (run.row < 0) continue;
      float* const out = task->LogitsOf(run);
      int32_t& rank = task->RankOf(run);
      const bool finite = device ? context_.readout()->Read(index++, out, rank)
                                 : ReadRow(run.row, task->question(run).candidates, out, rank);
      if (!finite) task->Refuse(i);
    }
  }
}

void Readout::AskPlain(llama_seq_id sequence) {
  DeviceReadout* const device = context_.readout();
  if (device == nullptr) return;
  device->Start(!always_whole_);
  device->Ask(sequence, {});
  device->Prepare();
}

bool Readout::PlainIsFinite(int32_t row) {
  if (!on_device()) return 2 * CountFinite(Row(row), vocabulary_size_) > vocabulary_size_;
  context_.readout()->Fetch();
  always_whole_ = !context_.readout()->Finite(0);
  return true;
}

const float* Readout::Row(int32_t row) const {
  const float* const logits = llama_get_logits_ith(context_.get(), row);
  if (logits == nullptr) throw EngineError("ERR_ENGINE_INTERNAL", "llama.cpp gave no logits");
  return logits;
}

// False if they are not finite.
bool Readout::ReadRow(int32_t row, std::span<const Token> candidates, float* out, int32_t& rank) {
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

uint64_t Readout::bytes() const {
  const DeviceReadout* const device = context_.readout();
  return whole_bytes_ + (device != nullptr ? device->bytes() : 0);
}

}  // namespace oi
