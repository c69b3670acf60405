// The projector of a vision model: encodes images to rows (embeddings), which stand where tokens
// would.
//
// Rules
//   1. Append() is thread-safe: it scales and cuts the image, and evaluates nothing. Rows() is
//      called on the inference thread only.
//   2. The tokens that belong around an image (the model's own begin and end tokens, separators of
//      slices) come with it, and no caller's text can become them.
//   3. An image is tokenized alone, so its tokens do not depend on the text around it.
//   4. Encoded rows are kept, the least recently used go first: the same image behind another text
//      of the same scope (../cache/wanted.h) is not encoded again.

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

// An image, or a slice of one, that is evaluated as a whole.
struct Image {
  size_t begin = 0;  // of the prefix' tokens
  size_t rows = 0;
  ImageKey key{};
  std::shared_ptr<const mtmd_input_chunk> chunk;
};

class Vision {
 public:
  // Throws EngineError: ERR_MODEL_NOT_FOUND, ERR_MODEL_LOAD (damaged, or of another model),
  // ERR_MODEL_UNSUPPORTED (it sees no images).
  Vision(const EngineOptions& options, const Model& model, uint32_t threads);

  Vision(const Vision&) = delete;
  Vision& operator=(const Vision&) = delete;

  // Adds the tokens that stand for an image. Throws EngineError ERR_REQUEST_UNACCEPTABLE if the
  // projector does not take it.
  void Append(const Pixels& pixels, std::vector<Token>& tokens,
              std::vector<std::shared_ptr<const Image>>& images) const;

  // The image's rows, shape [rows][width of the model's input]. Valid until the next call. Throws
  // EngineError ERR_ENGINE_INTERNAL.
  const std::vector<float>& Rows(const Image& image, const std::string& scope);
  // What the last call of Rows() spent on encoding, milliseconds; 0 if it knew the image.
  double encoding_ms() const { return encoding_ms_; }

  // Whether rows of an image attend to those behind them too (no causal mask).
  bool both_directions() const { return both_directions_; }
  // Whether positions are those of M-RoPE: four numbers for each row.
  bool mrope() const { return mrope_; }

 private:
  struct Encoded {
    std::string scope;
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
