// oi-pooled MODEL: llama.cpp's own pooled result of whole passes, for parity tests: with the file's
// pooling, in F32 and without flash attention, each pass alone.
//
// stdin: per line the ids of a pass' tokens, separated by blanks.
// stdout: per line the outputs of the model's head, or without one the pooled states, or without
// pooling the states of all tokens, one behind the other.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "llama.h"

namespace {

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "oi-pooled: %s\n", what);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) Fail("usage: oi-pooled MODEL <passes");
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  llama_model* model = llama_model_load_from_file(argv[1], llama_model_default_params());
  if (model == nullptr) Fail("the model cannot be loaded");

  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream stream(line);
    std::vector<llama_token> tokens;
    for (llama_token id = 0; stream >> id;) tokens.push_back(id);
    const auto count = static_cast<int32_t>(tokens.size());

    llama_context_params params = llama_context_default_params();
    params.n_ctx = params.n_batch = params.n_ubatch = static_cast<uint32_t>(count);
    params.n_threads = params.n_threads_batch = 1;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    params.type_k = params.type_v = GGML_TYPE_F32;
    params.embeddings = true;
    llama_context* context = llama_init_from_model(model, params);
    if (context == nullptr) Fail("no context could be made");
    const llama_batch batch = llama_batch_get_one(tokens.data(), count);
    const bool decoder = llama_get_memory(context) != nullptr;
    const int32_t status = decoder ? llama_decode(context, batch) : llama_encode(context, batch);
    if (status != 0) Fail("a pass failed");
    const auto pooling = llama_pooling_type(context);
    const bool whole = pooling == LLAMA_POOLING_TYPE_NONE;
    const float* states =
        whole ? llama_get_embeddings(context) : llama_get_embeddings_seq(context, 0);
    if (states == nullptr) Fail("the file has no states");
    const int32_t width = pooling == LLAMA_POOLING_TYPE_RANK
                              ? static_cast<int32_t>(llama_model_n_cls_out(model))
                              : llama_model_n_embd_out(model);
    const int32_t numbers = whole ? count * width : width;
    for (int32_t i = 0; i < numbers; ++i) std::printf("%.9g ", states[i]);
    std::printf("\n");
    llama_free(context);
  }
  llama_model_free(model);
  return 0;
}
