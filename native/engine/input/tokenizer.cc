#include "tokenizer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "../error.h"
#include "../model.h"
#include "llama.h"
#include "vision.h"

namespace oi {
namespace {

// Some pre-tokenizers run std::regex, whose matcher recurses once per character of a run:
// a megabyte of letters would overflow any stack. And a text is read no further than to the limit
// of its tokens. Text longer than this is cut where a word ends, which is a border for every
// tokenizer but those with tokens of several words, or anywhere if no word ends.
// The tokenizer's threads have a stack that bears a chunk (runtime/thread.h).
constexpr size_t kMaxChunkBytes = 16 * 1024;

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

// Bytes; more than a request's questions have.
constexpr size_t kRecentBytes = 8 * 1024 * 1024;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

size_t FirstCharacterBytes(std::string_view text) {
  size_t bytes = 1;
  while (bytes < text.size() && IsContinuation(text[bytes])) ++bytes;
  return bytes;
}

bool IsVisible(char c) { return static_cast<unsigned char>(c) > ' '; }

// Length of the first chunk of `text`: all of it, or up to the last "a b" within bounds, or the
// last "1 2".
size_t ChunkLength(std::string_view text) {
  if (text.size() <= kMaxChunkBytes) return text.size();
  for (const auto ends : {IsLetter, IsVisible}) {
    for (size_t i = std::min(kMaxChunkBytes, text.size() - 2); i > kMaxChunkBytes / 2; --i) {
      if (text[i] == ' ' && ends(text[i - 1]) && ends(text[i + 1])) return i;
    }
  }
  size_t end = kMaxChunkBytes;
  while (IsContinuation(text[end])) --end;
  return end;
}

[[noreturn]] void RefuseLength(const std::string& what, size_t limit, int32_t question) {
  throw EngineError("ERR_STATE_TOO_LONG",
                    what + " takes more than " + std::to_string(limit) + " tokens, the limit is " +
                        std::to_string(limit),
                    question);
}

}  // namespace

Tokenizer::Tokenizer(const Model& model, const Vision* vision)
    : vocab_(model.vocab()),
      vision_(vision),
      sentence_piece_(llama_vocab_type(vocab_) == LLAMA_VOCAB_TYPE_SPM),
      // The template of a model that is read by its hidden states says all, BOS too.
      adds_bos_(llama_vocab_get_add_bos(vocab_) && model.hidden() == nullptr &&
                model.prefix() == nullptr),
      whole_questions_(model.hidden() == nullptr && model.prefix() == nullptr),
      keeps_blanks_(KeepsBlanks()),
      recent_(kRecentBytes) {
  // Structural tokens of all templates, as any of them may render the prompt.
  std::string source;
  for (const char* name : {static_cast<const char*>(nullptr), "systemone", "rerank"}) {
    const char* chat_template = llama_model_chat_template(model.get(), name);
    if (chat_template != nullptr) source.append(chat_template).append("\n");
  }
  if (source.empty()) return;
  for (Token token = 0; token < llama_vocab_n_tokens(vocab_); ++token) {
    if (!(llama_vocab_get_attr(vocab_, token) & LLAMA_TOKEN_ATTR_USER_DEFINED)) continue;
    const std::string text = llama_vocab_get_text(vocab_, token);
    // Runs of white space are USER_DEFINED in some families; they carry no structure. And a
    // single character cannot be cut.
    const bool structural = text.find_first_not_of(" \t\r\n") != std::string::npos &&
                            text.size() > FirstCharacterBytes(text);
    if (structural && source.find(text) != std::string::npos) structural_.push_back(text);
  }
}

std::vector<Token> Tokenizer::Parts(const std::vector<TextPart>& parts) const {
  std::vector<Token> tokens;
  for (const TextPart& part : parts) AppendPart(part, kNoLimit, tokens);
  return tokens;
}

bool Tokenizer::AppendPart(const TextPart& part, size_t most, std::vector<Token>& out) const {
  if (part.image) throw EngineError("ERR_INVALID_ARGUMENT", "an image stands in a question");
  if (!part.trusted) return AppendUserText(part.text, most, out);
  Append(part.text, true, out);
  return true;
}

bool Tokenizer::AppendQuestion(const Question& question, const std::string& scope, size_t limit,
                               std::vector<Token>& out) const {
  for (const TextPart& part : question.parts) {
    size_t most = limit;
    if (whole_questions_) {
      most -= std::min(limit, out.size());
    } else if (question.candidates.empty()) {
      most = kNoLimit;  // it is counted, and says what others say
    }
    if (!AppendOnce(part, scope, most, out)) return false;
  }
  return true;
}

// Tokenizes a part of a question once: it comes with every state of a batch.
bool Tokenizer::AppendOnce(const TextPart& part, const std::string& scope, size_t most,
                           std::vector<Token>& out) const {
  if (!part.image && recent_.Append(part, scope, out)) return true;
  std::vector<Token> tokens;
  if (!AppendPart(part, most, tokens)) return false;
  out.insert(out.end(), tokens.begin(), tokens.end());
  recent_.Keep(part, scope, std::move(tokens));
  return true;
}

TokenizedRequest Tokenizer::Request(ScoreRequest request, size_t limit) const {
  TokenizedRequest result;
  result.scope = std::move(request.scope);
  bool of_template = true;
  for (const TextPart& part : request.prefix) {
    if (of_template && (part.image || !part.trusted)) {
      of_template = false;
      result.template_tokens = result.prefix.size();
    }
    if (!part.image) {
      if (!AppendPart(part, limit, result.prefix)) RefuseLength("the state", limit, kNoQuestion);
      continue;
    }
    if (vision_ == nullptr) {
      throw EngineError("ERR_INVALID_ARGUMENT", "the model was opened without a projector");
    }
    // Before the first image, which knows where it stands.
    if (result.images.empty()) BeginWithBos(result);
    vision_->Append(*part.image, result.prefix, result.images);
  }
  if (of_template) result.template_tokens = result.prefix.size();
  if (result.images.empty()) BeginWithBos(result);
  for (size_t i = 0; i < request.questions.size(); ++i) {
    Question& question = request.questions[i];
    std::vector<Token> tokens;
    if (!AppendQuestion(question, result.scope, limit, tokens)) {
      RefuseLength("the question", limit, static_cast<int32_t>(i));
    }
    result.questions.push_back(
        {std::move(tokens), std::move(question.candidates), question.counted});
  }
  return result;
}

void Tokenizer::BeginWithBos(TokenizedRequest& request) const {
  const Token bos = llama_vocab_bos(vocab_);
  if (!adds_bos_ || bos == LLAMA_TOKEN_NULL) return;
  std::vector<Token>& tokens = request.prefix;
  if (!tokens.empty() && tokens.front() == bos) return;
  tokens.insert(tokens.begin(), bos);
  ++request.template_tokens;
}

bool Tokenizer::Ordinary(Token token) const {
  if (token < 0 || token >= llama_vocab_n_tokens(vocab_)) return false;
  constexpr int kNotText = LLAMA_TOKEN_ATTR_UNKNOWN | LLAMA_TOKEN_ATTR_UNUSED |
                           LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_BYTE;
  return !(llama_vocab_get_attr(vocab_, token) & kNotText) && !llama_vocab_is_eog(vocab_, token);
}

bool Tokenizer::AppendUserText(std::string_view text, size_t most, std::vector<Token>& out) const {
  // The next place of each structural text, searched anew only once it has been passed: searching
  // all of them after every cut would take quadratic time.
  std::vector<size_t> next;
  for (const std::string& token : structural_) next.push_back(text.find(token));
  for (size_t from = 0; from < text.size();) {
    size_t cut = text.size();
    for (size_t i = 0; i < next.size(); ++i) {
      if (next[i] < from) next[i] = text.find(structural_[i], from);
      if (next[i] < cut) cut = next[i] + FirstCharacterBytes(structural_[i]);
    }
    if (!AppendChunks(text.substr(from, cut - from), most, out)) return false;
    from = cut;
  }
  return true;
}

bool Tokenizer::AppendChunks(std::string_view text, size_t most, std::vector<Token>& out) const {
  while (!text.empty()) {
    if (out.size() > most) return false;
    const size_t length = ChunkLength(text);
    Append(text.substr(0, length), false, out);
    text.remove_prefix(length);
    if (!keeps_blanks_ && !text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return true;
}

// Tokenizers that put a space before each piece of text bring the one at which it was cut.
bool Tokenizer::KeepsBlanks() const {
  const auto type = llama_vocab_type(vocab_);
  if (type != LLAMA_VOCAB_TYPE_SPM && type != LLAMA_VOCAB_TYPE_UGM) return true;
  std::vector<Token> whole;
  std::vector<Token> pieces;
  Append("one two", false, whole);
  Append("one", false, pieces);
  Append(" two", false, pieces);
  return pieces == whole;
}

void Tokenizer::Append(std::string_view text, bool parse_special, std::vector<Token>& out) const {
  if (text.empty()) return;
  const size_t before = out.size();
  // No token is shorter than a byte, but for a space that is put in front.
  const size_t capacity = text.size() + 8;
  if (capacity > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw EngineError("ERR_STATE_TOO_LONG", "over 2 GiB of text");
  }
  out.resize(before + capacity);
  int32_t count = llama_tokenize(vocab_, text.data(), static_cast<int32_t>(text.size()),
                                 out.data() + before, static_cast<int32_t>(capacity),
                                 /*add_special=*/false, parse_special);
  if (count < 0 && count != std::numeric_limits<int32_t>::min()) {
    out.resize(before + static_cast<size_t>(-count));
    count = llama_tokenize(vocab_, text.data(), static_cast<int32_t>(text.size()),
                           out.data() + before, -count, false, parse_special);
  }
  if (count < 0) throw EngineError("ERR_ENGINE_INTERNAL", "the text cannot be tokenized");
  out.resize(before + static_cast<size_t>(count));
  // SentencePiece puts a space before each piece of text. Before a line break, where our parts
  // meet, that space would stand alone.
  if (sentence_piece_ && text.front() == '\n' && count > 1 &&
      std::string_view(llama_vocab_get_text(vocab_, out[before])) == "\xE2\x96\x81") {
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(before));
  }
}

}  // namespace oi
