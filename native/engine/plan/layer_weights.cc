#include "layer_weights.h"

#include <array>
#include <cstdio>
#include <memory>
#include <regex>
#include <string>

#include "../error.h"
#include "gguf.h"
#include "llama.h"

namespace oi {
namespace {

// llama.cpp loads no more.
constexpr uint64_t kMostLayers = 512;
constexpr char kExperts[] = "\\.ffn_(up|down|gate|gate_up)_(ch|)exps";

using File = std::unique_ptr<gguf_context, decltype(&gguf_free)>;

File Open(const std::string& path) {
  File file(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}), &gguf_free);
  if (!file) throw EngineError("ERR_MODEL_LOAD", path + " is not a GGUF file, or is damaged");
  return file;
}

uint64_t Number(const gguf_context* file, const std::string& key) {
  const int64_t id = gguf_find_key(file, key.c_str());
  if (id < 0) return 0;
  switch (gguf_get_kv_type(file, id)) {
    case GGUF_TYPE_UINT16:
      return gguf_get_val_u16(file, id);
    case GGUF_TYPE_UINT32:
      return gguf_get_val_u32(file, id);
    case GGUF_TYPE_UINT64:
      return gguf_get_val_u64(file, id);
    default:
      return 0;
  }
}

void Add(const gguf_context* file, LayerWeights& weights, uint64_t& embeddings, bool& has_output) {
  static const std::regex experts(kExperts);
  const int64_t count = gguf_get_n_tensors(file);
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = gguf_get_tensor_name(file, i);
    const uint64_t bytes = gguf_get_tensor_size(file, i);
    size_t layer = 0;
    if (std::sscanf(name.c_str(), "blk.%zu.", &layer) == 1 && layer + 1 < weights.layers.size()) {
      LayerWeights::Layer& entry = weights.layers[layer];
      (std::regex_search(name, experts) ? entry.expert_bytes : entry.bytes) += bytes;
    } else if (name.rfind("token_embd.", 0) == 0) {
      embeddings += bytes;
    } else if (name.rfind("output", 0) == 0) {
      has_output = has_output || name == "output.weight";
      weights.layers.back().bytes += bytes;
    } else {
      weights.input_bytes += bytes;
    }
  }
}

}  // namespace

LayerWeights ReadLayerWeights(const std::string& path) {
  const File first = Open(path);
  const int64_t id = gguf_find_key(first.get(), "general.architecture");
  const std::string architecture = id >= 0 && gguf_get_kv_type(first.get(), id) == GGUF_TYPE_STRING
                                       ? gguf_get_val_str(first.get(), id)
                                       : "";
  LayerWeights weights;
  const uint64_t layers = Number(first.get(), architecture + ".block_count");
  if (layers > kMostLayers) {
    throw EngineError("ERR_MODEL_LOAD",
                      path + ": " + architecture + ".block_count: expected at most " +
                          std::to_string(kMostLayers) + ", got " + std::to_string(layers));
  }
  weights.layers.resize(layers + 1);
  uint64_t embeddings = 0;
  bool has_output = false;
  Add(first.get(), weights, embeddings, has_output);
  const auto parts = static_cast<int32_t>(Number(first.get(), "split.count"));
  for (int32_t part = 1; part < parts; ++part) {
    std::array<char, 4096> prefix{};
    std::array<char, 4096> name{};
    if (llama_split_prefix(prefix.data(), prefix.size(), path.c_str(), 0, parts) <= 0 ||
        llama_split_path(name.data(), name.size(), prefix.data(), part, parts) <= 0) {
      throw EngineError("ERR_MODEL_LOAD", path + ": expected the first part of a split model");
    }
    Add(Open(name.data()).get(), weights, embeddings, has_output);
  }
  weights.input_bytes += embeddings;
  // A tied output head is the embeddings, loaded a second time if the head is on a GPU.
  if (!has_output) weights.layers.back().bytes += embeddings;
  return weights;
}

std::string ExpertsPattern(size_t layer) { return "blk\\." + std::to_string(layer) + kExperts; }

}  // namespace oi
