// Where llama.cpp writes the rows of logits of a step: into two buffers by turns, so that those of
// one step can be read while the next one is evaluated.

#pragma once

#include <memory>

struct llama_context;

namespace oi {

class OutputTurns {
 public:
  virtual ~OutputTurns() = default;

  // After a llama_decode() of one microbatch: where its rows, [outputs, vocabulary] in the order of
  // the batch, will be once it is evaluated. They stay until the decode after the next one; and by
  // the time that the next one returns, they are there: before it can hand its inputs to a device,
  // llama.cpp waits for it.
  virtual const float* Turn() = 0;
};

// Valid as long as the context. Null if it is another llama.cpp's, or hands inputs over while a
// device still computes, as with several GPUs.
std::unique_ptr<OutputTurns> OutputTurnsOf(llama_context* context);

}  // namespace oi
