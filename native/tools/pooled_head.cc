#include "pooled_head.h"

#include <iterator>
#include <string>
#include <string_view>

#include "llama.h"

namespace oi {
namespace {

// Logits further apart than a random head's own would be.
constexpr float kOutputGain = 4.0f;

constexpr const char* kLabels[] = {"anger", "Fear", "joy", "sadness", "neutral tone"};
constexpr const char* kYesNo[] = {"yes", "no"};

// Of Qwen3-Reranker.
constexpr char kRerank[] =
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    "the Instruct provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n"
    "<|im_start|>user\n<Instruct>: Given a web search query, retrieve relevant passages that "
    "answer "
    "the query\n<Query>: {query}\n<Document>: {document}<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n";

bool Is(const Shape& shape, std::string_view architecture) {
  return architecture == shape.architecture;
}

}  // namespace

void AddPooledHead(const Shape& shape, std::vector<Tensor>& tensors) {
  const bool classifier = shape.pooled == Pooled::kClassifier;
  if (!classifier && shape.pooled != Pooled::kReranker) return;
  const int64_t width = shape.width;
  const bool decoder = Is(shape, "qwen3");
  const int64_t outputs = classifier ? std::size(kLabels) : decoder ? std::size(kYesNo) : 1;
  tensors.push_back({"cls.output.weight", Fill::kMatrix, {width, outputs}, kOutputGain});
  if (decoder) return;
  tensors.push_back({"cls.output.bias", Fill::kConvolution, {outputs}});
  tensors.push_back({"cls.weight", Fill::kMatrix, {width, width}});
  if (Is(shape, "modern-bert")) {
    tensors.push_back({"cls.norm.weight", Fill::kNorm, {width}});
  } else {
    tensors.push_back({"cls.bias", Fill::kConvolution, {width}});
  }
}

void SetPooledHead(const Shape& shape, gguf_context* out) {
  if (shape.pooled == Pooled::kNone) return;
  const std::string prefix = std::string(shape.architecture) + ".";
  const bool embedding = shape.pooled == Pooled::kEmbedding;
  const auto pooling = embedding ? LLAMA_POOLING_TYPE_MEAN : LLAMA_POOLING_TYPE_RANK;
  gguf_set_val_u32(out, (prefix + "pooling_type").c_str(), pooling);
  const auto set_labels = [&](const char* const* labels, size_t count) {
    gguf_set_arr_str(out, (prefix + "classifier.output_labels").c_str(),
                     const_cast<const char**>(labels), count);
  };
  if (shape.pooled == Pooled::kClassifier) set_labels(kLabels, std::size(kLabels));
  if (shape.pooled == Pooled::kReranker && Is(shape, "qwen3")) {
    set_labels(kYesNo, std::size(kYesNo));
    gguf_set_val_str(out, "tokenizer.chat_template.rerank", kRerank);
  }
}

}  // namespace oi
