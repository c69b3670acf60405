#include "marker_token.h"

#include "head_numbers.h"
#include "llama.h"

namespace oi {

Token FindMarker(const std::string& key, const std::string& text, const llama_vocab* vocab) {
  Token token = 0;
  const int32_t count = llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()),
                                       &token, 1, /*add_special=*/false, /*parse_special=*/true);
  if (count != 1 || !(llama_vocab_get_attr(vocab, token) & LLAMA_TOKEN_ATTR_CONTROL)) {
    RefuseKey(key, "expected the text of one control token, got " + text);
  }
  return token;
}

}  // namespace oi
