// The one exception type of the engine: a code of src/errors.ts and a text for people.

#pragma once

#include <stdexcept>
#include <string>

namespace oi {

struct EngineError : std::runtime_error {
  EngineError(const char* code, const std::string& message)
      : std::runtime_error(message), code(code) {}

  const char* const code;  // literal from src/errors.ts
};

}  // namespace oi
