#include "check_request.h"

#include <algorithm>
#include <string>

#include "../error.h"
#include "image_tokens.h"

namespace oi {

void CheckTokens(const TokenizedRequest& request, size_t vocabulary_size) {
  const auto outside = [vocabulary_size](Token token) {
    return token < 0 || static_cast<size_t>(token) >= vocabulary_size;
  };
  const auto outside_prefix = [&](Token token) { return !IsImage(token) && outside(token); };
  if (std::any_of(request.prefix.begin(), request.prefix.end(), outside_prefix)) {
    throw EngineError("ERR_INVALID_ARGUMENT", "a prefix token is outside the vocabulary");
  }
  for (const TokenizedQuestion& question : request.questions) {
    if (std::any_of(question.tokens.begin(), question.tokens.end(), outside) ||
        std::any_of(question.candidates.begin(), question.candidates.end(), outside)) {
      throw EngineError("ERR_INVALID_ARGUMENT", "a question's token is outside the vocabulary");
    }
  }
}

void CheckRequest(const TokenizedRequest& request, size_t vocabulary_size, size_t limit) {
  CheckTokens(request, vocabulary_size);
  size_t longest = 0;
  int32_t at_fault = kNoQuestion;  // unless a question is longer than the state
  for (size_t i = 0; i < request.questions.size(); ++i) {
    const size_t tokens = request.questions[i].tokens.size();
    if (tokens == 0) throw EngineError("ERR_INVALID_ARGUMENT", "a question has no tokens");
    if (tokens > longest && tokens > request.prefix.size()) at_fault = static_cast<int32_t>(i);
    longest = std::max(longest, tokens);
  }
  const size_t needed = request.prefix.size() + longest;
  if (needed > limit) {
    throw EngineError("ERR_STATE_TOO_LONG",
                      "state and longest question take " + std::to_string(needed) + " tokens (" +
                          std::to_string(request.prefix.size()) + " and " +
                          std::to_string(longest) + "), the limit is " + std::to_string(limit),
                      at_fault);
  }
}

}  // namespace oi
