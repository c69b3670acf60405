#include "pass_template.h"

#include "../types.h"
#include "head_numbers.h"
#include "llama.h"

namespace oi {
namespace {

// "" if there is no such token.
std::string Written(const llama_vocab* vocab, Token token) {
  if (token == LLAMA_TOKEN_NULL) return "";
  const std::string text = llama_vocab_get_text(vocab, token);
  Token read = LLAMA_TOKEN_NULL;
  const int32_t count = llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()), &read,
                                       1, /*add_special=*/false, /*parse_special=*/true);
  if (count != 1 || read != token) {
    RefuseKey("tokenizer.ggml.token_type",
              "expected control tokens at the ends of a text, but " + text + " is none");
  }
  return text;
}

}  // namespace

std::string TextTemplate(const llama_vocab* vocab) {
  // WordPiece has both ends, whatever its file says.
  const bool word_piece = llama_vocab_type(vocab) == LLAMA_VOCAB_TYPE_WPM;
  std::string text = "{text}";
  if (word_piece || llama_vocab_get_add_bos(vocab)) {
    text.insert(0, Written(vocab, llama_vocab_bos(vocab)));
  }
  if (word_piece) return text + Written(vocab, llama_vocab_sep(vocab));
  return llama_vocab_get_add_eos(vocab) ? text + Written(vocab, llama_vocab_eos(vocab)) : text;
}

// format_prompt_rerank() of llama.cpp's tools/server/server-common.cpp.
std::string PairTemplate(const llama_vocab* vocab) {
  const Token separator = llama_vocab_sep(vocab);
  const Token eos = llama_vocab_eos(vocab);
  const std::string begin =
      llama_vocab_get_add_bos(vocab) ? Written(vocab, llama_vocab_bos(vocab)) : "";
  const std::string between = llama_vocab_get_add_sep(vocab) ? Written(vocab, separator) : "";
  const std::string end = llama_vocab_get_add_eos(vocab)
                              ? Written(vocab, eos == LLAMA_TOKEN_NULL ? separator : eos)
                              : "";
  return begin + "{query}" + end + between + "{document}" + end;
}

}  // namespace oi
