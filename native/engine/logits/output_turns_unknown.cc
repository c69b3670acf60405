#include "output_turns.h"

namespace oi {

std::unique_ptr<OutputTurns> OutputTurnsOf(llama_context*) { return nullptr; }

}  // namespace oi
