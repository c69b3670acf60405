#include "vision.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "../clock.h"
#include "../error.h"
#include "../finite.h"
#include "../log.h"
#include "../model.h"
#include "hash/hash.h"
#include "image_tokens.h"
#include "llama.h"

namespace oi {
namespace {

// Floats of encoded rows that are kept: an image of a megapixel has about 1,300 rows of 2,560
// floats in a 4B model.
constexpr size_t kMaxEncodedFloats = (128u << 20) / sizeof(float);
// Bytes of the projector's file that are hashed for its identity, in pieces all over it.
constexpr size_t kPieces = 64;
constexpr size_t kPieceBytes = 4096;

// The projector's identity is part of an image's key, as an image's K/V depend on it, and states on
// disk outlive the process. Hashing all of its bytes would take seconds.
std::string Identity(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw EngineError("ERR_MODEL_NOT_FOUND", path + " cannot be read");
  const auto size = static_cast<size_t>(file.tellg());
  std::string bytes = std::to_string(size);
  for (size_t i = 0; i < kPieces; ++i) {
    file.seekg(static_cast<std::streamoff>(size / kPieces * i));
    const size_t before = bytes.size();
    bytes.resize(before + kPieceBytes);
    file.read(bytes.data() + before, kPieceBytes);
    bytes.resize(before + static_cast<size_t>(file.gcount()));
    file.clear();
  }
  return hash_sha256_hex(bytes.data(), bytes.size());
}

mtmd_context* Open(const EngineOptions& options, const Model& model, uint32_t threads) {
  const std::string& path = options.projector_path;
  mtmd_context_params params = mtmd_context_params_default();
  params.use_gpu = !model.on_cpu();
  if (params.use_gpu) params.device = model.gpus().front();  // beside its model
  params.n_threads = static_cast<int>(threads);
  params.print_timings = false;
  params.warmup = false;  // with the largest image, which takes a CPU seconds
  ClearLog();
  mtmd_context* context = mtmd_init_from_file(path.c_str(), model.get(), params);
  if (context == nullptr) {
    const std::string reason = FirstLoggedError();
    throw EngineError("ERR_MODEL_LOAD",
                      path + ": " + (reason.empty() ? "no projector of this model" : reason));
  }
  return context;
}

ImageKey KeyOf(const std::string& bytes) {
  const std::string digits = hash_sha256_hex(bytes.data(), bytes.size());
  ImageKey key{};
  for (size_t i = 0; i < key.size(); ++i)
    key[i] = std::stoull(digits.substr(16 * i, 16), nullptr, 16);
  return key;
}

}  // namespace

Vision::Vision(const EngineOptions& options, const Model& model, uint32_t threads)
    : identity_(Identity(options.projector_path)),
      context_(Open(options, model, threads), &mtmd_free),
      width_(static_cast<size_t>(llama_model_n_embd_inp(model.get()))),
      both_directions_(mtmd_decode_use_non_causal(context_.get(), nullptr)),
      mrope_(mtmd_decode_use_mrope(context_.get())) {
  if (mtmd_support_vision(context_.get())) return;
  throw EngineError("ERR_MODEL_UNSUPPORTED", options.projector_path + ": it sees no images");
}

void Vision::Append(const Pixels& pixels, std::vector<Token>& tokens,
                    std::vector<std::shared_ptr<const Image>>& images) const {
  const std::unique_ptr<mtmd_bitmap, decltype(&mtmd_bitmap_free)> bitmap(
      mtmd_bitmap_init(pixels.width, pixels.height, pixels.rgb.data()), &mtmd_bitmap_free);
  const std::unique_ptr<mtmd_input_chunks, decltype(&mtmd_input_chunks_free)> chunks(
      mtmd_input_chunks_init(), &mtmd_input_chunks_free);
  const mtmd_input_part part{.text = nullptr, .bitmap = bitmap.get()};
  const mtmd_input_part* const parts[] = {&part};
  ClearLog();
  if (mtmd_tokenize_from_parts(context_.get(), chunks.get(), parts, 1, /*add_special=*/false) !=
      0) {
    throw EngineError("ERR_REQUEST_UNACCEPTABLE",
                      "the projector does not take an image of " + std::to_string(pixels.width) +
                          " x " + std::to_string(pixels.height) + " pixels: " + FirstLoggedError());
  }
  const std::string identity = identity_ + " " + std::to_string(pixels.width) + " " +
                               std::to_string(pixels.height) + " " +
                               hash_sha256_hex(pixels.rgb.data(), pixels.rgb.size());
  const size_t count = mtmd_input_chunks_size(chunks.get());
  for (size_t i = 0; i < count; ++i) {
    const mtmd_input_chunk* chunk = mtmd_input_chunks_get(chunks.get(), i);
    if (mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_TEXT) {
      size_t length = 0;
      const llama_token* text = mtmd_input_chunk_get_tokens_text(chunk, &length);
      tokens.insert(tokens.end(), text, text + length);
      continue;
    }
    auto image = std::make_shared<Image>();
    image->begin = tokens.size();
    image->rows = mtmd_input_chunk_get_n_tokens(chunk);
    image->key = KeyOf(identity + " " + std::to_string(i));
    image->chunk = {mtmd_input_chunk_copy(chunk), &mtmd_input_chunk_free};
    AppendImage(image->key, image->rows, static_cast<size_t>(mtmd_input_chunk_get_n_pos(chunk)),
                tokens);
    images.push_back(std::move(image));
  }
}

const std::vector<float>& Vision::Rows(const Image& image, const std::string& scope) {
  encoding_ms_ = 0;
  const auto it = std::find_if(encoded_.begin(), encoded_.end(), [&](const Encoded& entry) {
    return entry.key == image.key && entry.scope == scope;
  });
  if (it != encoded_.end()) {
    encoded_.splice(encoded_.begin(), encoded_, it);
    return it->rows;
  }
  const auto start = Clock::now();
  ClearLog();
  if (mtmd_encode_chunk(context_.get(), image.chunk.get()) != 0) {
    throw EngineError("ERR_ENGINE_INTERNAL", "an image was not encoded: " + FirstLoggedError());
  }
  encoding_ms_ = MillisecondsSince(start);
  const size_t floats = image.rows * width_;
  const float* const rows = mtmd_get_output_embd(context_.get());
  if (CountFinite(rows, floats) < floats) {
    throw EngineError("ERR_ENGINE_INTERNAL", "the projector's numbers for an image are not finite");
  }
  encoded_.push_front({scope, image.key, std::vector<float>(rows, rows + floats)});
  encoded_floats_ += floats;
  while (encoded_floats_ > kMaxEncodedFloats && encoded_.size() > 1) {
    encoded_floats_ -= encoded_.back().rows.size();
    encoded_.pop_back();
  }
  return encoded_.front().rows;
}

}  // namespace oi
