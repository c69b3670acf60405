#include "projector.h"

#include <string>

namespace oi {
namespace {

// Patches that are merged into one row, in each direction.
constexpr uint32_t kMerge = 2;
constexpr float kNormEpsilon = 1e-6f;
constexpr float kMean = 0.5f;
constexpr float kDeviation = 0.25f;

}  // namespace

const std::vector<Projector>& Projectors() {
  static const std::vector<Projector> projectors = {{.name = "fixture-vision",
                                                     .layers = 2,
                                                     .width = 64,
                                                     .feed_forward = 128,
                                                     .heads = 2,
                                                     .patch = 14,
                                                     .model_width = 256}};
  return projectors;
}

std::vector<Tensor> TensorsOf(const Projector& projector) {
  std::vector<Tensor> tensors;
  const auto add = [&](std::string name, Fill fill, std::vector<int64_t> dims) {
    tensors.push_back({std::move(name), fill, std::move(dims)});
  };
  const int64_t width = projector.width;
  // Biases are F32, as convolutions are, and drawn like them.
  const auto add_linear = [&](const std::string& name, int64_t inputs, int64_t outputs) {
    add(name + ".weight", Fill::kMatrix, {inputs, outputs});
    add(name + ".bias", Fill::kConvolution, {outputs});
  };
  const auto add_norm = [&](const std::string& name) {
    add(name + ".weight", Fill::kNorm, {width});
    add(name + ".bias", Fill::kConvolution, {width});
  };

  // Two frames of a video; an image is both.
  for (const char* name : {"v.patch_embd.weight", "v.patch_embd.weight.1"}) {
    add(name, Fill::kConvolution, {projector.patch, projector.patch, 3, width});
  }
  for (uint32_t layer = 0; layer < projector.layers; ++layer) {
    const std::string block = "v.blk." + std::to_string(layer) + ".";
    add_norm(block + "ln1");
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_out"}) {
      add_linear(block + name, width, width);
    }
    add_norm(block + "ln2");
    add_linear(block + "ffn_up", width, projector.feed_forward);
    add_linear(block + "ffn_down", projector.feed_forward, width);
  }
  add_norm("v.post_ln");
  const int64_t merged = width * kMerge * kMerge;
  add_linear("mm.0", merged, merged);
  add_linear("mm.2", merged, projector.model_width);
  return tensors;
}

void SetHyperparameters(const Projector& projector, gguf_context* out) {
  const auto set_u32 = [&](const char* key, uint32_t value) {
    gguf_set_val_u32(out, (std::string("clip.vision.") + key).c_str(), value);
  };
  gguf_set_val_str(out, "general.architecture", "clip");
  gguf_set_val_str(out, "general.type", "mmproj");
  gguf_set_val_str(out, "general.name",
                   (std::string(projector.name) + " (random weights)").c_str());
  gguf_set_val_bool(out, "clip.has_vision_encoder", true);
  gguf_set_val_str(out, "clip.projector_type", "qwen2vl_merger");
  gguf_set_val_bool(out, "clip.use_gelu", true);
  set_u32("block_count", projector.layers);
  set_u32("embedding_length", projector.width);
  set_u32("feed_forward_length", projector.feed_forward);
  set_u32("attention.head_count", projector.heads);
  set_u32("projection_dim", projector.model_width);
  set_u32("patch_size", projector.patch);
  set_u32("spatial_merge_size", kMerge);
  set_u32("image_size", 16 * projector.patch);
  gguf_set_val_f32(out, "clip.vision.attention.layer_norm_epsilon", kNormEpsilon);
  const float mean[3] = {kMean, kMean, kMean};
  const float deviation[3] = {kDeviation, kDeviation, kDeviation};
  gguf_set_arr_data(out, "clip.vision.image_mean", GGUF_TYPE_FLOAT32, mean, 3);
  gguf_set_arr_data(out, "clip.vision.image_std", GGUF_TYPE_FLOAT32, deviation, 3);
}

}  // namespace oi
