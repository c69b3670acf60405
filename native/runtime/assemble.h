// A request from the flat arrays in which it crosses borders. src/engine/pack.ts makes them and
// says what stands where.

#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "../engine/types.h"

namespace oi {

// The arrays do not fit together.
struct MalformedRequest : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Gives each part whose kind is 2 the next of `images`: its RGB bytes, whose width and height are
// in `sizes`. Throws MalformedRequest.
void AddImages(std::span<const uint8_t> kinds, std::span<const std::span<const uint8_t>> images,
               std::span<const int32_t> sizes, std::vector<TextPart>& parts);

// `shape`: parts of the prefix, then of each question its parts, its candidates, and whether it is
// counted. Throws MalformedRequest.
ScoreRequest Assemble(std::vector<TextPart> parts, std::span<const int32_t> shape,
                      std::span<const int32_t> candidates);

}  // namespace oi
