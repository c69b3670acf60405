// The text of a pass with names in braces in place of the caller's, made of a vocabulary's own
// tokens: as llama.cpp frames a text, and its server a pair of a reranker.

#pragma once

#include <string>

struct llama_vocab;

namespace oi {

// As "[CLS]{text}[SEP]". Throws as PairTemplate().
std::string TextTemplate(const llama_vocab* vocab);

// As "<s>{query}</s></s>{document}</s>". Throws EngineError ERR_MODEL_UNSUPPORTED if the text of a
// token of it is not read as that token.
std::string PairTemplate(const llama_vocab* vocab);

}  // namespace oi
