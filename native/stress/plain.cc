#include "plain.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "llama.h"

namespace oi {

PlainModel::PlainModel(const std::string& path, unsigned context_tokens) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_model_params on_cpu = llama_model_default_params();
  ggml_backend_dev_t none = nullptr;
  on_cpu.devices = &none;
  model_ = llama_model_load_from_file(path.c_str(), on_cpu);
  if (model_ == nullptr) throw std::runtime_error(path + " cannot be loaded");
  llama_context_params params = llama_context_default_params();
  params.n_ctx = params.n_batch = params.n_ubatch = context_tokens;
  params.n_threads = params.n_threads_batch = 1;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  context_ = llama_init_from_model(model_, params);
  if (context_ == nullptr) throw std::runtime_error("no context could be made");
}

PlainModel::~PlainModel() {
  llama_free(context_);
  llama_model_free(model_);
}

std::vector<int> PlainModel::Tokenize(const std::string& text, bool first) const {
  std::vector<int> tokens(text.size() + 8);
  const int32_t count =
      llama_tokenize(llama_model_get_vocab(model_), text.data(), static_cast<int32_t>(text.size()),
                     tokens.data(), static_cast<int32_t>(tokens.size()), first, false);
  if (count < 0) throw std::runtime_error("the text cannot be tokenized");
  tokens.resize(static_cast<size_t>(count));
  return tokens;
}

std::vector<float> PlainModel::Logits(const std::vector<int>& prompt,
                                      const std::vector<int>& candidates) {
  std::vector<llama_token> tokens(prompt.begin(), prompt.end());
  llama_memory_clear(llama_get_memory(context_), false);
  const auto count = static_cast<int32_t>(tokens.size());
  if (llama_decode(context_, llama_batch_get_one(tokens.data(), count)) != 0) {
    throw std::runtime_error("llama_decode failed");
  }
  const float* logits = llama_get_logits_ith(context_, -1);
  const int32_t size = llama_vocab_n_tokens(llama_model_get_vocab(model_));
  const double max = *std::max_element(logits, logits + size);
  double sum = 0;
  for (int32_t i = 0; i < size; ++i) sum += std::exp(logits[i] - max);
  std::vector<float> out;
  for (const int candidate : candidates) out.push_back(logits[candidate]);
  out.push_back(static_cast<float>(max + std::log(sum)));
  return out;
}

}  // namespace oi
