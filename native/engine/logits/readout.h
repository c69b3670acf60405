// Reads a question's answer out of its row of logits, [vocabulary]: the logits of its candidates,
// their rank, and the log-sum-exp. Those of a device are computed there (device_readout.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../context.h"
#include "../scoring_task.h"
#include "../types.h"
#include "device_readout.h"

namespace oi {

class Readout {
 public:
  // `on_gpu`: rows that come whole are counted.
  Readout(const Context& context, size_t vocabulary_size, bool on_gpu)
      : context_(context), vocabulary_size_(vocabulary_size), on_gpu_(on_gpu) {}

  // Before a decode, by the tasks' runs that have a row in it. `whole`: what is finite in a row
  // counts, whatever else is in it.
  void Ask(const std::vector<ScoringTask*>& tasks, bool whole);
  // After it, and llama_synchronize(): into the tasks' results. The rank is the number of tokens
  // that are likelier than all candidates. A run whose numbers are not finite is refused
  // (ScoringTask::Refuse). Throws EngineError ERR_ENGINE_INTERNAL.
  void Read(const std::vector<ScoringTask*>& tasks);

  // The same for a row of a sequence that nobody asked for.
  void AskPlain(llama_seq_id sequence);
  // Whether most of it is finite: a single entry may be damaged, and is nobody's label. If not all
  // of it is on a device, rows come whole from then on, and it is true.
  bool PlainIsFinite(int32_t row);

  // Bytes of logits, or of results computed from them, that came from a device.
  uint64_t bytes() const;

 private:
  bool on_device() const { return context_.readout() != nullptr && context_.readout()->in_use(); }
  const float* Row(int32_t row) const;
  bool ReadRow(int32_t row, std::span<const Token> candidates, float* out, int32_t& rank);

  const Context& context_;
  const size_t vocabulary_size_;
  const bool on_gpu_;
  bool always_whole_ = false;
  uint64_t whole_bytes_ = 0;
};

}  // namespace oi
