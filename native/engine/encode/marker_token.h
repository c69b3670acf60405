// Tokens that a file names by their text.

#pragma once

#include <string>

#include "../types.h"

struct llama_vocab;

namespace oi {

// The one control token that the text consists of. Throws EngineError ERR_MODEL_UNSUPPORTED that
// names the key.
Token FindMarker(const std::string& key, const std::string& text, const llama_vocab* vocab);

}  // namespace oi
