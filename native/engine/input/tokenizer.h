// Turns text parts into token ids; a caller's text never becomes a template's control token.
//
// Rules
//   1. Trusted text is parsed for control tokens; user text never is.
//   2. llama.cpp still recognises USER_DEFINED tokens in plain text, and some families keep
//      their structure there (`<think>`, `<tool_call>`). Those that the model's own chat
//      template names are cut in two wherever user text spells one out, so that it stays text.
//   3. Parts are tokenized one by one, so a part's tokens do not depend on its neighbours: the
//      shared prefix is the same for every question.
//   4. No text of a request is read further than to one chunk behind the limit of its tokens.
//
// Thread-safe. It reads the vocabulary, which must outlive it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../types.h"
#include "recent_tokens.h"

struct llama_vocab;

namespace oi {

class Model;
class Vision;

class Tokenizer {
 public:
  // `vision` is null for a model that reads text only; it must outlive the tokenizer.
  Tokenizer(const Model& model, const Vision* vision);

  // The parts' tokens in order. Of text only.
  std::vector<Token> Parts(const std::vector<TextPart>& parts) const;
  // Both halves of a request; the prefix starts with BOS where the model wants it. `limit`: the
  // most tokens that the prefix and a question may have; what has more is not read to its end.
  // Throws EngineError: ERR_STATE_TOO_LONG, ERR_INVALID_ARGUMENT (an image in a question, or
  // without a projector), and as Vision::Append().
  TokenizedRequest Request(ScoreRequest request, size_t limit) const;
  // True for plain text: neither control, unknown, unused nor a raw byte.
  bool Ordinary(Token token) const;

 private:
  void BeginWithBos(TokenizedRequest& request) const;
  // Each is false if it stopped before the text's end, with more than `most` tokens in `out`.
  bool AppendQuestion(const Question& question, const std::string& scope, size_t limit,
                      std::vector<Token>& out) const;
  bool AppendOnce(const TextPart& part, const std::string& scope, size_t most,
                  std::vector<Token>& out) const;
  bool AppendPart(const TextPart& part, size_t most, std::vector<Token>& out) const;
  bool AppendUserText(std::string_view text, size_t most, std::vector<Token>& out) const;
  bool AppendChunks(std::string_view text, size_t most, std::vector<Token>& out) const;
  bool KeepsBlanks() const;
  void Append(std::string_view text, bool parse_special, std::vector<Token>& out) const;

  const llama_vocab* const vocab_;
  const Vision* const vision_;
  const bool sentence_piece_;
  const bool adds_bos_;
  const bool whole_questions_;           // not in passes of an option or a few
  const bool keeps_blanks_;              // a chunk begins with the blank at which the text was cut
  std::vector<std::string> structural_;  // rule 2
  mutable RecentTokens recent_;          // of questions
};

}  // namespace oi
