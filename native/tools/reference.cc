// oi-reference MODEL: llama.cpp's own evaluation of whole prompts, for parity tests.
//
// Nothing is shared, forked or packed: every prompt goes alone through an empty context, by
// one plain llama_decode, with the same kinds of cache and attention as the engine's.
//
// stdin: per line "TOKENS | CANDIDATES", ids separated by blanks.
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

namespace {

double LogSumExp(const float* x, int32_t n) {
  const double max = *std::max_element(x, x + n);
  double sum = 0;
  for (int32_t i = 0; i < n; ++i) sum += std::exp(x[i] - max);
  return max + std::log(sum);
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) Fail("usage: oi-reference MODEL f16|f32 <prompts");
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  llama_model_params model_params = llama_model_default_params();
  llama_model* model = llama_model_load_from_file(argv[1], model_params);
  if (model == nullptr) Fail("the model cannot be loaded");
  const int32_t vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
  const ggml_type cache = std::string(argv[2]) == "f32" ? GGML_TYPE_F32 : GGML_TYPE_F16;

  std::string line;
  while (std::getline(std::cin, line)) {
    const size_t bar = line.find('|');
    if (bar == std::string::npos) Fail("a line without |");
    std::vector<llama_token> prompt = Ids(line.substr(0, bar));
    const std::vector<llama_token> candidates = Ids(line.substr(bar + 1));

    llama_context_params params = llama_context_default_params();
    params.n_ctx = static_cast<uint32_t>(prompt.size());
    params.n_batch = static_cast<uint32_t>(prompt.size());
    params.n_threads = params.n_threads_batch = 2;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    params.type_k = params.type_v = cache;
    llama_context* context = llama_init_from_model(model, params);
    if (context == nullptr) Fail("no context could be made");
    const auto count = static_cast<int32_t>(prompt.size());
    if (llama_decode(context, llama_batch_get_one(prompt.data(), count)) != 0)
      Fail("decode failed");
    const float* logits = llama_get_logits_ith(context, -1);
    for (const llama_token id : candidates) std::printf("%.9g ", logits[id]);
    std::printf("%.9g\n", LogSumExp(logits, vocabulary));
    llama_free(context);
  }
  llama_model_free(model);
  return 0;
}
