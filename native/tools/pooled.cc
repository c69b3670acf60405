// oi-pooled [--kernels] MODEL: llama.cpp's own pooled result of whole passes, for parity tests:
// with the file's pooling, in F32 and without flash attention, each pass alone. With --kernels ours
// compute it, as in the engine.
//
// stdin: per line the ids of a pass' tokens, separated by blanks.
// stdout: per line the outputs of the model's head, or without one the pooled states, or without
// pooling the states of all tokens, one behind the other.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "../kernels/kernels.h"
#include "../threads/crew.h"
#include "llama.h"

namespace {

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "oi-pooled: %s\n", what);
  std::exit(1);
}

bool WantsExactMatmuls(const llama_model* model) {
  std::array<char, 8> value{};
  llama_model_meta_val_str(model, "oi.exact_matmuls", value.data(), value.size());
  return std::strcmp(value.data(), "true") == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool kernels = argc == 3 && std::strcmp(argv[1], "--kernels") == 0;
  if (argc != 2 && !kernels) Fail("usage: oi-pooled [--kernels] MODEL <passes");
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  oi::Crew crew(1, /*adapts=*/false);
  const oi::kernels::PoolScope pool(kernels ? crew.pool() : nullptr);
  const oi::kernels::LoadScope loading(kernels);
  llama_model* model = llama_model_load_from_file(argv[argc - 1], llama_model_default_params());
  if (model == nullptr) Fail("the model cannot be loaded");
  const oi::kernels::LoadScope using_it(kernels, /*lock=*/false, WantsExactMatmuls(model));

  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream stream(line);
    std::vector<llama_token> tokens;
    for (llama_token id = 0; stream >> id;) tokens.push_back(id);
    const auto count = static_cast<int32_t>(tokens.size());

    llama_context_params params = llama_context_default_params();
    params.n_ctx = params.n_batch = params.n_ubatch = static_cast<uint32_t>(count);
    params.n_threads = params.n_threads_batch = 1;
    params.flash_attn_type =
        kernels ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
    params.type_k = params.type_v = GGML_TYPE_F32;
    params.embeddings = true;
    llama_context* context = llama_init_from_model(model, params);
    if (context == nullptr) Fail("no context could be made");
    llama_attach_threadpool(context, crew.pool(), crew.pool());
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
