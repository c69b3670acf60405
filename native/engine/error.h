// The one exception type of the engine: a code of src/errors.ts and a text for people.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace oi {

// Of an error: it is not about one question.
constexpr int32_t kNoQuestion = -1;

struct EngineError : std::runtime_error {
  EngineError(const char* code, const std::string& message, int32_t question = kNoQuestion)
      : std::runtime_error(message), code(code), question(question) {}

  const char* const code;  // literal from src/errors.ts
  const int32_t question;  // index of the one that it is about
};

}  // namespace oi
