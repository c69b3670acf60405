// llama.cpp v0.5.0 reserves logits for every token of a batch, and zeroes them, where hidden states
// alone are wanted too: a quarter of a gigabyte for 2,048 tokens of BERT's vocabulary.

#pragma once

#include <cstddef>

struct llama_context;

namespace oi {

// Gives their pages back to the system, for a context of a CPU whose graphs have no logits.
// `tokens`: of the largest batch so far. Elsewhere than on Linux they stay.
void ReleaseUnusedLogits(llama_context* context, size_t vocabulary_size, size_t tokens);

}  // namespace oi
