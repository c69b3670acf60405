// The projector of a vision model: pictures to rows that stand where tokens would.
//
// Rules
//   1. Append() is thread-safe: it scales and cuts the picture, and evaluates nothing. Rows() is
//      the inference thread's.
//   2. What belongs around a picture (the model's own begin and end tokens, separators of slices)
//      comes with it, as tokens that no caller's text can become.
//   3. A picture is tokenized alone, so its tokens do not depend on what stands around it.
//   4. Rows that were encoded are kept, the least recently used go first: the same picture behind
//      another text costs no second encoding.

#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "../types.h"
#include "mtmd.h"

namespace oi {

class Model;

// A part of a picture that is evaluated as a whole: where it stands in the prefix, and what.
struct Image {
  size_t begin = 0;  // of the prefix' tokens
  size_t rows = 0;
  ImageKey key{};
  std::shared_ptr<const mtmd_input_chunk> chunk;
};

class Vision {
 public:
  // Throws EngineError: ERR_MODEL_NOT_FOUND, ERR_MODEL_LOAD (damaged, or of another model),
  // ERR_MODEL_UNSUPPORTED (it sees no pictures).
  Vision(const EngineOptions& options, const Model& model, uint32_t threads);

  Vision(const Vision&) = delete;
  Vision& operator=(const Vision&) = delete;

  // Adds what stands for a picture. Throws EngineError ERR_REQUEST_UNACCEPTABLE if the projector
  // does not take it.
  void Append(const Pixels& pixels, std::vector<Token>& tokens,
              std::vector<std::shared_ptr<const Image>>& images) const;

  // The image's rows, each as wide as the model's input. Valid until the next call. Throws
  // EngineError ERR_ENGINE_INTERNAL.
  const std::vector<float>& Rows(const Image& image);
  // What the last call of Rows() spent on encoding, milliseconds; 0 if it knew the image.
  double encoding_ms() const { return encoding_ms_; }

  // Whether the rows of an image see those behind them.
  bool both_directions() const { return both_directions_; }
  // Whether positions are those of M-RoPE: four numbers for each row.
  bool mrope() const { return mrope_; }

 private:
  struct Encoded {
    ImageKey key;
    std::vector<float> rows;
  };

  const std::string identity_;  // of the projector's file
  const std::unique_ptr<mtmd_context, decltype(&mtmd_free)> context_;
  const size_t width_;  // of a row, floats
  const bool both_directions_;
  const bool mrope_;
  std::list<Encoded> encoded_;  // the most recently used first
  size_t encoded_floats_ = 0;
  double encoding_ms_ = 0;
};

// `vision` is null for a model that reads text only.
inline bool NeedsWholeImages(const Vision* vision) {
  return vision != nullptr && vision->both_directions();
}

}  // namespace oi
