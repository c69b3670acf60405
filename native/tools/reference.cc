// oi-reference MODEL f16|f32 [PROJECTOR]: llama.cpp's own evaluation of whole prompts, for parity
// tests.
//
// Nothing is shared, forked or packed: every prompt goes alone through an empty context, by
// one plain llama_decode, with the same kinds of cache and attention as the engine's.
//
// stdin: per line "TOKENS | CANDIDATES", ids separated by blanks. Among the tokens an image may
// stand: "< WIDTH HEIGHT BYTES >", its RGB bytes as numbers; then the line is evaluated in pieces.
// stdout: per line the candidates' logits and the log-sum-exp over the vocabulary.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "llama.h"
#include "mtmd-helper.h"
#include "mtmd.h"

namespace {

double LogSumExp(const float* x, int32_t n) {
  const double max = *std::max_element(x, x + n);
  double sum = 0;
  for (int32_t i = 0; i < n; ++i) sum += std::exp(x[i] - max);
  return max + std::log(sum);
}

// An image, or text where it has no width.
struct Piece {
  std::vector<llama_token> tokens;
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<unsigned char> rgb;
};

std::vector<Piece> Pieces(const std::string& text) {
  std::istringstream stream(text);
  std::vector<Piece> pieces(1);
  for (std::string word; stream >> word;) {
    if (word != "<") {
      pieces.back().tokens.push_back(std::stoi(word));
      continue;
    }
    Piece picture;
    stream >> picture.width >> picture.height;
    for (stream >> word; word != ">"; stream >> word) {
      picture.rgb.push_back(static_cast<unsigned char>(std::stoi(word)));
    }
    pieces.push_back(std::move(picture));
    pieces.emplace_back();
  }
  return pieces;
}

std::vector<llama_token> Ids(const std::string& text) {
  std::istringstream stream(text);
  std::vector<llama_token> ids;
  for (llama_token id = 0; stream >> id;) ids.push_back(id);
  return ids;
}

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "oi-reference: %s\n", what);
  std::exit(1);
}

// By llama.cpp's own helper. Moves `position` on.
void EvaluatePicture(mtmd_context* vision, llama_context* context, const Piece& piece,
                     llama_pos* position) {
  mtmd_bitmap* bitmap = mtmd_bitmap_init(piece.width, piece.height, piece.rgb.data());
  const mtmd_input_part part{nullptr, bitmap};
  const mtmd_input_part* parts[] = {&part};
  mtmd_input_chunks* chunks = mtmd_input_chunks_init();
  if (mtmd_tokenize_from_parts(vision, chunks, parts, 1, false) != 0) Fail("no picture");
  const auto batch = static_cast<int32_t>(llama_n_batch(context));
  if (mtmd_helper_eval_chunks(vision, context, chunks, *position, 0, batch, false, position) != 0)
    Fail("the picture cannot be evaluated");
  mtmd_input_chunks_free(chunks);
  mtmd_bitmap_free(bitmap);
}

void EvaluateText(llama_context* context, const std::vector<llama_token>& tokens, bool last,
                  llama_pos* position) {
  if (tokens.empty()) return;
  const auto count = static_cast<int32_t>(tokens.size());
  llama_batch batch = llama_batch_init(count, 0, 1);
  for (int32_t i = 0; i < count; ++i) {
    batch.token[i] = tokens[static_cast<size_t>(i)];
    batch.pos[i] = (*position)++;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = last && i + 1 == count;
  }
  batch.n_tokens = count;
  if (llama_decode(context, batch) != 0) Fail("decode failed");
  llama_batch_free(batch);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) Fail("usage: oi-reference MODEL f16|f32 [PROJECTOR] <prompts");
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  llama_model_params model_params = llama_model_default_params();
  llama_model* model = llama_model_load_from_file(argv[1], model_params);
  if (model == nullptr) Fail("the model cannot be loaded");
  const int32_t vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
  mtmd_context* vision = nullptr;
  if (argc == 4) {
    mtmd_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    mtmd_helper_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    mtmd_context_params vision_params = mtmd_context_params_default();
    vision_params.warmup = false;
    vision_params.n_threads = 1;
    vision = mtmd_init_from_file(argv[3], model, vision_params);
    if (vision == nullptr) Fail("the projector cannot be loaded");
  }
  const ggml_type cache = std::string(argv[2]) == "f32" ? GGML_TYPE_F32 : GGML_TYPE_F16;

  std::string line;
  while (std::getline(std::cin, line)) {
    const size_t bar = line.find('|');
    if (bar == std::string::npos) Fail("a line without |");
    const std::vector<Piece> pieces = Pieces(line.substr(0, bar));
    std::vector<llama_token> prompt = pieces.front().tokens;
    const std::vector<llama_token> candidates = Ids(line.substr(bar + 1));

    llama_context_params params = llama_context_default_params();
    const bool pictures = pieces.size() > 1;
    params.n_ctx = pictures ? 4096 : static_cast<uint32_t>(prompt.size());
    params.n_batch = pictures ? 2048 : static_cast<uint32_t>(prompt.size());
    // Several would wait for one another without giving up their cores, which other tests use.
    params.n_threads = params.n_threads_batch = 1;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    params.type_k = params.type_v = cache;
    llama_context* context = llama_init_from_model(model, params);
    if (context == nullptr) Fail("no context could be made");
    const auto count = static_cast<int32_t>(prompt.size());
    llama_pos position = 0;
    if (!pictures && llama_decode(context, llama_batch_get_one(prompt.data(), count)) != 0)
      Fail("decode failed");
    for (size_t i = 0; pictures && i < pieces.size(); ++i) {
      if (pieces[i].width > 0) {
        EvaluatePicture(vision, context, pieces[i], &position);
      } else {
        EvaluateText(context, pieces[i].tokens, i + 1 == pieces.size(), &position);
      }
    }
    const float* logits = llama_get_logits_ith(context, -1);
    for (const llama_token id : candidates) std::printf("%.9g ", logits[id]);
    std::printf("%.9g\n", LogSumExp(logits, vocabulary));
    llama_free(context);
  }
  mtmd_free(vision);
  llama_model_free(model);
  return 0;
}
