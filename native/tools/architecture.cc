#include "architecture.h"

#include <numbers>
#include <string_view>

#include "encoder.h"

namespace oi {
namespace {

// Chosen so that a random model is neither flat nor peaked, whatever its size.
//
// A normalized activation times a matrix of gain g has standard deviation g, so every
// layer adds about one unit to the residual stream and the logits have the output head's
// gain. The embedding itself is small beside the layers (gain / sqrt(width)): a tied head
// would otherwise predict every token to follow itself. Attention scores get a deviation
// of 2 from queries and keys of sqrt(2) each: with less, attention over a long prefix is
// an average in which no single token counts, and no test would notice a wrong one.
constexpr float kLogitGain = 2.0f;
constexpr float kAttentionGain = std::numbers::sqrt2_v<float>;

// Far enough apart that rounding hardly ever chooses another expert.
constexpr float kRouterGain = 4.0f;

constexpr uint32_t kConvolutionWidth = 4;

class Builder {
 public:
  Builder(const Shape& shape, int64_t vocabulary_size) : shape_(shape) {
    Add("token_embd.weight", Fill::kMatrix, {shape.width, vocabulary_size}, kLogitGain);
    for (uint32_t layer = 0; layer < shape.layers; ++layer) AddLayer(layer);
    Add(Is("lfm2") ? "token_embd_norm.weight" : "output_norm.weight", Fill::kNorm, {shape.width});
    if (!shape.tied) {
      Add("output.weight", Fill::kMatrix, {shape.width, vocabulary_size}, kLogitGain);
    }
  }

  std::vector<Tensor> Take() { return std::move(tensors_); }

 private:
  void Add(std::string name, Fill fill, std::vector<int64_t> dims, float gain = 1.0f) {
    tensors_.push_back({std::move(name), fill, std::move(dims), gain});
  }

  void AddLayer(uint32_t layer) {
    block_.assign("blk.").append(std::to_string(layer)).append(".");
    Add(block_ + "attn_norm.weight", Fill::kNorm, {shape_.width});
    if (shape_.IsRecurrent(layer) && shape_.convolution > 0) {
      Add(block_ + "shortconv.conv.weight", Fill::kConvolution, {shape_.convolution, shape_.width});
      Add(block_ + "shortconv.in_proj.weight", Fill::kMatrix, {shape_.width, 3 * shape_.width});
      Add(block_ + "shortconv.out_proj.weight", Fill::kMatrix, {shape_.width, shape_.width});
    } else if (shape_.IsRecurrent(layer)) {
      AddDeltaNet();
    } else {
      AddAttention();
    }
    // Qwen 3.5 and gpt-oss call the norm before the feed-forward so; Gemma 3 has another one too.
    if (Is("qwen35") || Is("gpt-oss") || Is("gemma3")) AddNorm("post_attention_norm");
    if (!Is("qwen35") && !Is("gpt-oss")) AddNorm("ffn_norm");
    if (shape_.experts > 0) {
      AddExperts();
    } else {
      Add(block_ + "ffn_gate.weight", Fill::kMatrix, {shape_.width, shape_.feed_forward});
      Add(block_ + "ffn_up.weight", Fill::kMatrix, {shape_.width, shape_.feed_forward});
      Add(block_ + "ffn_down.weight", Fill::kMatrix, {shape_.feed_forward, shape_.width});
    }
    if (Is("gemma3")) AddNorm("post_ffw_norm");
  }

  bool Is(std::string_view architecture) const { return architecture == shape_.architecture; }

  void AddNorm(const char* name) { Add(block_ + name + ".weight", Fill::kNorm, {shape_.width}); }

  void AddExperts() {
    const int64_t width = shape_.width;
    const int64_t hidden = shape_.feed_forward;
    const int64_t experts = shape_.experts;
    Add(block_ + "ffn_gate_inp.weight", Fill::kMatrix, {width, experts}, kRouterGain);
    Add(block_ + "ffn_gate_exps.weight", Fill::kMatrix, {width, hidden, experts});
    Add(block_ + "ffn_up_exps.weight", Fill::kMatrix, {width, hidden, experts});
    Add(block_ + "ffn_down_exps.weight", Fill::kMatrix, {hidden, width, experts});
    if (!Is("gpt-oss")) return;
    // Biases are F32, as convolutions are, and drawn like them.
    Add(block_ + "ffn_gate_inp.bias", Fill::kConvolution, {experts});
    Add(block_ + "ffn_gate_exps.bias", Fill::kConvolution, {hidden, experts});
    Add(block_ + "ffn_up_exps.bias", Fill::kConvolution, {hidden, experts});
    Add(block_ + "ffn_down_exps.bias", Fill::kConvolution, {width, experts});
  }

  void AddAttention() {
    const int64_t width = shape_.width;
    const int64_t query_width = shape_.heads * shape_.head_width;
    const int64_t kv_width = shape_.kv_heads * shape_.head_width;
    // qwen35 computes an output gate in the same product as the queries.
    const int64_t query_outputs = Is("qwen35") ? 2 * query_width : query_width;
    Add(block_ + "attn_q.weight", Fill::kMatrix, {width, query_outputs}, kAttentionGain);
    Add(block_ + "attn_k.weight", Fill::kMatrix, {width, kv_width}, kAttentionGain);
    Add(block_ + "attn_v.weight", Fill::kMatrix, {width, kv_width});
    Add(block_ + "attn_output.weight", Fill::kMatrix, {query_width, width});
    if (Is("gpt-oss")) {
      Add(block_ + "attn_output.bias", Fill::kConvolution, {width});
      Add(block_ + "attn_sinks.weight", Fill::kConvolution, {shape_.heads});
      return;
    }
    if (!Is("llama") && !Is("qwen2vl")) {
      Add(block_ + "attn_q_norm.weight", Fill::kNorm, {shape_.head_width}, kAttentionGain);
      Add(block_ + "attn_k_norm.weight", Fill::kNorm, {shape_.head_width}, kAttentionGain);
    }
  }

  void AddDeltaNet() {
    const int64_t width = shape_.width;
    const int64_t heads = shape_.value_heads;
    const int64_t value_width = shape_.ValueWidth();
    const int64_t mixed_width = 2 * shape_.KeyWidth() + value_width;
    Add(block_ + "attn_qkv.weight", Fill::kMatrix, {width, mixed_width});
    Add(block_ + "attn_gate.weight", Fill::kMatrix, {width, value_width});
    Add(block_ + "ssm_conv1d.weight", Fill::kConvolution, {kConvolutionWidth, mixed_width});
    Add(block_ + "ssm_dt.bias", Fill::kTimeStep, {heads});
    Add(block_ + "ssm_a", Fill::kDecay, {heads});
    Add(block_ + "ssm_beta.weight", Fill::kMatrix, {width, heads});
    Add(block_ + "ssm_alpha.weight", Fill::kMatrix, {width, heads});
    Add(block_ + "ssm_norm.weight", Fill::kNorm, {shape_.state_width});
    Add(block_ + "ssm_out.weight", Fill::kMatrix, {value_width, width});
  }

  const Shape& shape_;
  std::string block_;
  std::vector<Tensor> tensors_;
};

}  // namespace

int64_t Tensor::Elements() const {
  int64_t elements = 1;
  for (const int64_t dim : dims) elements *= dim;
  return elements;
}

std::vector<Tensor> TensorsOf(const Shape& shape, int64_t vocabulary_size) {
  if (IsEncoder(shape)) return EncoderTensors(shape, vocabulary_size);
  return Builder(shape, vocabulary_size).Take();
}

void SetHyperparameters(const Shape& shape, int64_t vocabulary_size, gguf_context* out) {
  if (IsEncoder(shape)) return SetEncoderHyperparameters(shape, vocabulary_size, out);
  const std::string prefix = std::string(shape.architecture) + ".";
  const auto set_u32 = [&](const char* key, uint32_t value) {
    gguf_set_val_u32(out, (prefix + key).c_str(), value);
  };
  const auto set_f32 = [&](const char* key, float value) {
    gguf_set_val_f32(out, (prefix + key).c_str(), value);
  };

  set_u32("vocab_size", static_cast<uint32_t>(vocabulary_size));
  set_u32("context_length", shape.context);
  set_u32("block_count", shape.layers);
  set_u32("embedding_length", shape.width);
  set_u32("feed_forward_length", shape.feed_forward);
  set_u32("attention.head_count", shape.heads);
  set_u32("attention.head_count_kv", shape.kv_heads);
  set_u32("attention.key_length", shape.head_width);
  set_u32("attention.value_length", shape.head_width);
  set_f32("attention.layer_norm_rms_epsilon", shape.norm_epsilon);
  set_f32("rope.freq_base", shape.rope_base);
  // Rotated pairs are shared out between time, height and width of an image in the real models'
  // proportion of 11 : 11 : 10.
  const auto set_sections = [&](uint32_t rotated) {
    const int32_t pairs = static_cast<int32_t>(rotated / 2);
    const int32_t time = (pairs * 11 + 16) / 32;
    const int32_t sections[4] = {time, time, pairs - 2 * time, 0};
    gguf_set_arr_data(out, (prefix + "rope.dimension_sections").c_str(), GGUF_TYPE_INT32, sections,
                      4);
  };
  if (shape.convolution > 0) {
    set_u32("shortconv.l_cache", shape.convolution);
    std::vector<int32_t> heads;
    for (uint32_t layer = 0; layer < shape.layers; ++layer) {
      heads.push_back(shape.IsRecurrent(layer) ? 0 : static_cast<int32_t>(shape.kv_heads));
    }
    gguf_set_arr_data(out, (prefix + "attention.head_count_kv").c_str(), GGUF_TYPE_INT32,
                      heads.data(), heads.size());
  }
  if (shape.window > 0) {
    set_u32("attention.sliding_window", shape.window);
    set_u32("attention.sliding_window_pattern", shape.window_interval);
  }
  if (shape.experts > 0) {
    set_u32("expert_count", shape.experts);
    set_u32("expert_used_count", shape.experts_used);
    set_u32("expert_feed_forward_length", shape.feed_forward);
  }
  if (shape.attention_interval == 0 || shape.convolution > 0) {
    set_u32("rope.dimension_count", shape.head_width);
    if (std::string_view(shape.architecture) == "qwen2vl") set_sections(shape.head_width);
    return;
  }

  const uint32_t rotated = shape.head_width / 4;
  set_u32("rope.dimension_count", rotated);
  set_sections(rotated);
  set_u32("full_attention_interval", shape.attention_interval);
  set_u32("ssm.conv_kernel", kConvolutionWidth);
  set_u32("ssm.inner_size", shape.ValueWidth());
  set_u32("ssm.state_size", shape.state_width);
  set_u32("ssm.time_step_rank", shape.value_heads);
  set_u32("ssm.group_count", shape.key_heads);
}

}  // namespace oi
