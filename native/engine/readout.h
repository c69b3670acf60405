// What an answer is made of: the logits of its candidates, their rank and the log-sum-exp, out of
// rows of the whole vocabulary. On a device they are computed there (device_readout.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "context.h"
#include "device_readout.h"
#include "types.h"

namespace oi {

class Readout {
 public:
  // `on_gpu`: rows that come whole are counted.
  Readout(const Context& context, size_t vocabulary_size, bool on_gpu)
      : context_(context), vocabulary_size_(vocabulary_size), on_gpu_(on_gpu) {}

  // Before a decode. `whole`: what is finite in a row is asked for, entry by entry.
  void Start(bool whole) {
    if (DeviceReadout* device = context_.readout()) {
      device->Use(!whole && !whole_);
      device->Start();
    }
  }
  // For each of its outputs, in the order in which they are read; sequences differ.
  void Ask(llama_seq_id sequence, std::span<const Token> candidates) {
    if (DeviceReadout* device = context_.readout()) device->Ask(sequence, candidates);
  }
  void Prepare() {
    if (DeviceReadout* device = context_.readout()) device->Prepare();
  }
  // After it, and llama_synchronize().
  void Fetch() {
    if (on_device()) context_.readout()->Fetch();
  }

  // Of the output that was asked for as number `index`, and is that of token `row` of the batch:
  // the candidates' logits into `out`, then the log-sum-exp, nats; entries of others that are not
  // finite count as zero. `rank`: tokens of the vocabulary that are likelier than all candidates.
  // False if they are not finite. Throws EngineError ERR_ENGINE_INTERNAL.
  bool Read(size_t index, int32_t row, std::span<const Token> candidates, float* out,
            int32_t& rank);

  // Whether most of that row is: a single entry may be damaged, and is nobody's label. On a device,
  // all of it.
  bool Finite(size_t index, int32_t row) const;
  // From now on, rows come whole. False if they did.
  bool Leave();

  // Of logits, or of what was made of them, that came from a device.
  uint64_t bytes() const;

 private:
  bool on_device() const { return context_.readout() != nullptr && context_.readout()->in_use(); }
  const float* Row(int32_t row) const;

  const Context& context_;
  const size_t vocabulary_size_;
  const bool on_gpu_;
  bool whole_ = false;
  uint64_t whole_bytes_ = 0;
};

}  // namespace oi
