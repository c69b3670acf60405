// The tokenizer of a vendored vocabulary file (ggml-vocab-NAME.gguf: a model without
// weights), completed with the tokens that a model and its chat template need.

#pragma once

#include <cstdint>
#include <string>

#include "chat_template.h"
#include "gguf.h"

namespace oi {

// Copies the tokenizer.* keys of `directory`/ggml-vocab-`name`.gguf to `out` and returns
// the number of tokens. With `size`, the list is padded to it with unused tokens.
// Throws std::runtime_error if there is no such file, or `size` is too small for it.
int64_t CopyVocabulary(const std::string& directory, const std::string& name, uint32_t size,
                       const ChatTemplate& chat_template, gguf_context* out);

}  // namespace oi
