#include "assemble.h"

#include <memory>
#include <utility>

namespace oi {
namespace {

constexpr uint8_t kImage = 2;  // in `kinds`

}  // namespace

void AddImages(std::span<const uint8_t> kinds, std::span<const std::span<const uint8_t>> images,
               std::span<const int32_t> sizes, std::vector<TextPart>& parts) {
  const auto refuse = [] { throw MalformedRequest("images do not fit"); };
  if (kinds.size() != parts.size() || sizes.size() != 2 * images.size()) refuse();
  size_t next = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (kinds[i] != kImage) continue;
    if (next == images.size()) refuse();
    if (sizes[2 * next] < 1 || sizes[2 * next + 1] < 1) refuse();
    auto pixels = std::make_shared<Pixels>();
    pixels->width = static_cast<uint32_t>(sizes[2 * next]);
    pixels->height = static_cast<uint32_t>(sizes[2 * next + 1]);
    const std::span<const uint8_t> rgb = images[next++];
    if (rgb.size() / 3 / pixels->width != pixels->height ||
        rgb.size() != uint64_t{3} * pixels->width * pixels->height) {
      refuse();
    }
    pixels->rgb.assign(rgb.begin(), rgb.end());
    parts[i].image = std::move(pixels);
  }
  if (next != images.size()) refuse();
}

ScoreRequest Assemble(std::vector<TextPart> parts, std::span<const int32_t> shape,
                      std::span<const int32_t> candidates) {
  const auto refuse = [] { throw MalformedRequest("shape does not fit"); };
  if (shape.size() % 3 != 1) refuse();
  size_t part = 0;
  const auto take_parts = [&](int32_t count, std::vector<TextPart>& out) {
    if (count < 0 || static_cast<size_t>(count) > parts.size() - part) refuse();
    for (int32_t i = 0; i < count; ++i) out.push_back(std::move(parts[part++]));
  };
  ScoreRequest request;
  take_parts(shape[0], request.prefix);
  for (size_t i = 1; i < shape.size(); i += 3) {
    Question question;
    take_parts(shape[i], question.parts);
    const int32_t count = shape[i + 1];
    if (count < 0 || static_cast<size_t>(count) > candidates.size()) refuse();
    const auto own = candidates.first(static_cast<size_t>(count));
    question.candidates.assign(own.begin(), own.end());
    candidates = candidates.subspan(own.size());
    question.counted = shape[i + 2] != 0;
    request.questions.push_back(std::move(question));
  }
  if (part != parts.size() || !candidates.empty()) refuse();
  return request;
}

}  // namespace oi
