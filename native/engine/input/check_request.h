// Checks a request before llama.cpp would abort over it.

#pragma once

#include <cstddef>

#include "../types.h"

namespace oi {

// Throws EngineError ERR_INVALID_ARGUMENT: a token outside the vocabulary.
void CheckTokens(const TokenizedRequest& request, size_t vocabulary_size);

// The same, and throws EngineError ERR_INVALID_ARGUMENT for a question without tokens,
// ERR_STATE_TOO_LONG if prefix and longest question exceed `limit` tokens.
void CheckRequest(const TokenizedRequest& request, size_t vocabulary_size, size_t limit);

}  // namespace oi
