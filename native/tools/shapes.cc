#include "shapes.h"

#include <stdexcept>
#include <string>

namespace oi {
namespace {

// Fixtures are 256 wide because the K quants work on blocks of 256: a narrower matrix
// silently gets another type. fixture-small is the exception, and the fastest to load. Most have a
// vocabulary of 50,000 tokens: those of the Qwen families load five times as long.
std::vector<Shape> Fixtures() {
  const Shape dense = {.name = "fixture-dense",
                       .architecture = "qwen3",
                       .vocabulary = "gpt-2",
                       .vocabulary_size = 0,
                       .layers = 2,
                       .width = 256,
                       .feed_forward = 512,
                       .heads = 4,
                       .kv_heads = 2,
                       .head_width = 64,
                       .context = 32768,
                       .rope_base = 1e6f,
                       .norm_epsilon = 1e-6f,
                       .tied = true};

  Shape hybrid = dense;
  hybrid.name = "fixture-hybrid";
  hybrid.architecture = "qwen35";
  hybrid.layers = 4;  // recurrent, attention, recurrent, attention
  hybrid.attention_interval = 2;
  hybrid.state_width = 64;
  hybrid.key_heads = 2;
  hybrid.value_heads = 4;

  Shape dense_qwen = dense;
  dense_qwen.name = "fixture-dense-qwen";
  dense_qwen.vocabulary = "qwen2";

  Shape hybrid_qwen = hybrid;
  hybrid_qwen.name = "fixture-hybrid-qwen";
  hybrid_qwen.vocabulary = "qwen35";

  Shape llama = dense;
  llama.name = "fixture-llama";
  llama.architecture = "llama";
  llama.vocabulary = "llama-bpe";
  llama.rope_base = 5e5f;
  llama.norm_epsilon = 1e-5f;

  Shape small = dense;
  small.name = "fixture-small";
  small.width = 64;
  small.feed_forward = 128;
  small.heads = 2;
  small.kv_heads = 1;
  small.head_width = 32;

  // Graphs of Qwen3-0.6B and 1.7B, and of 4B and 8B, that compute next to nothing.
  Shape deep = small;
  deep.name = "fixture-28-layers";
  deep.layers = 28;
  Shape deeper = small;
  deeper.name = "fixture-36-layers";
  deeper.layers = 36;

  Shape mrope = dense;
  mrope.name = "fixture-mrope";
  mrope.architecture = "qwen2vl";

  // As Gemma 3: norms behind attention and feed-forward too, and inputs scaled by sqrt(width), with
  // which a tied head would predict every token to follow itself.
  Shape window = dense;
  window.name = "fixture-window";
  window.architecture = "gemma3";
  window.layers = 4;  // window, all, window, all
  window.tied = false;
  window.window = 64;
  window.window_interval = 2;

  Shape experts = dense;
  experts.name = "fixture-experts";
  experts.architecture = "qwen3moe";
  experts.experts = 4;
  experts.experts_used = 2;

  // A window, experts, biases, and attention sinks.
  Shape oss = experts;
  oss.name = "fixture-oss";
  oss.architecture = "gpt-oss";
  oss.layers = 4;
  oss.tied = false;
  oss.window = 64;
  oss.window_interval = 2;

  // Its states are those of convolutions, and its layers' heads are listed one by one.
  Shape lfm2 = dense;
  lfm2.name = "fixture-lfm2";
  lfm2.architecture = "lfm2";
  lfm2.layers = 4;  // convolution, attention, convolution, attention
  lfm2.attention_interval = 2;
  lfm2.convolution = 3;

  // Of the narrowest width that Q8_0 works on, and as fast to load as fixture-small.
  Shape encoder = small;
  encoder.architecture = "bert";
  encoder.vocabulary = "bert-bge";
  encoder.kv_heads = encoder.heads;
  encoder.context = 512;
  encoder.norm_epsilon = 1e-12f;

  // Its positions suffice for states that take steps of their own.
  Shape prefix = encoder;
  prefix.name = "fixture-prefix";
  prefix.context = 2048;

  Shape reranker = encoder;
  reranker.name = "fixture-reranker";
  reranker.pooled = Pooled::kReranker;

  Shape classifier = encoder;
  classifier.name = "fixture-classifier";
  classifier.pooled = Pooled::kClassifier;

  Shape embedding = encoder;
  embedding.name = "fixture-embedding";
  embedding.pooled = Pooled::kEmbedding;

  // Another head: the mean of all states, GELU, and a norm.
  Shape modern_reranker = reranker;
  modern_reranker.name = "fixture-modern-reranker";
  modern_reranker.architecture = "modern-bert";
  modern_reranker.norm_epsilon = 1e-5f;
  modern_reranker.rope_base = 160000.0f;

  // As Qwen3-Reranker: a decoder with the outputs yes and no, and a template for pairs.
  Shape qwen3_reranker = small;
  qwen3_reranker.name = "fixture-qwen3-reranker";
  qwen3_reranker.pooled = Pooled::kReranker;

  return {dense,    dense_qwen, hybrid,    hybrid_qwen,     llama,         mrope, small,
          deep,     deeper,     window,    experts,         oss,           lfm2,  prefix,
          reranker, classifier, embedding, modern_reranker, qwen3_reranker};
}

std::vector<Shape> RealShapes() {
  const Shape qwen3 = {.name = "qwen3-0.6b",
                       .architecture = "qwen3",
                       .vocabulary = "qwen2",
                       .vocabulary_size = 151936,
                       .layers = 28,
                       .width = 1024,
                       .feed_forward = 3072,
                       .heads = 16,
                       .kv_heads = 8,
                       .head_width = 128,
                       .context = 40960,
                       .rope_base = 1e6f,
                       .norm_epsilon = 1e-6f,
                       .tied = true};

  Shape qwen3_1_7b = qwen3;
  qwen3_1_7b.name = "qwen3-1.7b";
  qwen3_1_7b.width = 2048;
  qwen3_1_7b.feed_forward = 6144;

  Shape qwen3_4b = qwen3;
  qwen3_4b.name = "qwen3-4b";
  qwen3_4b.layers = 36;
  qwen3_4b.width = 2560;
  qwen3_4b.feed_forward = 9728;
  qwen3_4b.heads = 32;

  Shape qwen3_8b = qwen3_4b;
  qwen3_8b.name = "qwen3-8b";
  qwen3_8b.width = 4096;
  qwen3_8b.feed_forward = 12288;
  qwen3_8b.tied = false;

  const Shape qwen35 = {.name = "qwen3.5-0.8b",
                        .architecture = "qwen35",
                        .vocabulary = "qwen35",
                        .vocabulary_size = 248320,
                        .layers = 24,
                        .width = 1024,
                        .feed_forward = 3584,
                        .heads = 8,
                        .kv_heads = 2,
                        .head_width = 256,
                        .context = 262144,
                        .rope_base = 1e7f,
                        .norm_epsilon = 1e-6f,
                        .tied = true,
                        .attention_interval = 4,
                        .state_width = 128,
                        .key_heads = 16,
                        .value_heads = 16};

  Shape qwen35_4b = qwen35;
  qwen35_4b.name = "qwen3.5-4b";
  qwen35_4b.layers = 32;
  qwen35_4b.width = 2560;
  qwen35_4b.feed_forward = 9216;
  qwen35_4b.heads = 16;
  qwen35_4b.kv_heads = 4;
  qwen35_4b.value_heads = 32;

  const Shape llama = {.name = "llama3.2-1b",
                       .architecture = "llama",
                       .vocabulary = "llama-bpe",
                       .vocabulary_size = 128256,
                       .layers = 16,
                       .width = 2048,
                       .feed_forward = 8192,
                       .heads = 32,
                       .kv_heads = 8,
                       .head_width = 64,
                       .context = 131072,
                       .rope_base = 5e5f,
                       .norm_epsilon = 1e-5f,
                       .tied = true};

  // As e5-small and bge-small, read in parts.
  const Shape prefix = {.name = "prefix-l12",
                        .architecture = "bert",
                        .vocabulary = "bert-bge",
                        .vocabulary_size = 30522,
                        .layers = 12,
                        .width = 384,
                        .feed_forward = 1536,
                        .heads = 12,
                        .kv_heads = 12,
                        .head_width = 32,
                        .context = 4096,
                        .rope_base = 0,
                        .norm_epsilon = 1e-12f,
                        .tied = true};

  return {qwen3, qwen3_1_7b, qwen3_4b, qwen3_8b, qwen35, qwen35_4b, llama, prefix};
}

}  // namespace

const std::vector<Shape>& Shapes() {
  static const std::vector<Shape> shapes = [] {
    std::vector<Shape> all = Fixtures();
    for (const Shape& shape : RealShapes()) all.push_back(shape);
    return all;
  }();
  return shapes;
}

const Shape& FindShape(std::string_view name) {
  std::string known;
  for (const Shape& shape : Shapes()) {
    if (name == shape.name) return shape;
    known += std::string(known.empty() ? "" : ", ") + shape.name;
  }
  throw std::runtime_error("Unknown model " + std::string(name) + "; use one of " + known);
}

}  // namespace oi
