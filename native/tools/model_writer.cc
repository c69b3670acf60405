#include "model_writer.h"

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include "architecture.h"
#include "chat_template.h"
#include "decision.h"
#include "encoder.h"
#include "ggml.h"
#include "gguf.h"
#include "llama.h"
#include "pooled_head.h"
#include "projector.h"
#include "temporary_file.h"
#include "tensor_file.h"
#include "vocabulary.h"

namespace oi {
namespace {

constexpr size_t kQuantizerBufferBytes = size_t{256} << 20;

struct FileType {
  const char* name;
  llama_ftype type;
};

// Those of llama.cpp's types that its quantizer makes without an importance matrix.
constexpr FileType kFileTypes[] = {
    {"F32", LLAMA_FTYPE_ALL_F32},          {"F16", LLAMA_FTYPE_MOSTLY_F16},
    {"BF16", LLAMA_FTYPE_MOSTLY_BF16},     {"Q8_0", LLAMA_FTYPE_MOSTLY_Q8_0},
    {"Q4_0", LLAMA_FTYPE_MOSTLY_Q4_0},     {"Q4_1", LLAMA_FTYPE_MOSTLY_Q4_1},
    {"Q5_0", LLAMA_FTYPE_MOSTLY_Q5_0},     {"Q5_1", LLAMA_FTYPE_MOSTLY_Q5_1},
    {"Q2_K", LLAMA_FTYPE_MOSTLY_Q2_K},     {"Q3_K_S", LLAMA_FTYPE_MOSTLY_Q3_K_S},
    {"Q3_K_M", LLAMA_FTYPE_MOSTLY_Q3_K_M}, {"Q3_K_L", LLAMA_FTYPE_MOSTLY_Q3_K_L},
    {"Q4_K_S", LLAMA_FTYPE_MOSTLY_Q4_K_S}, {"Q4_K_M", LLAMA_FTYPE_MOSTLY_Q4_K_M},
    {"Q5_K_S", LLAMA_FTYPE_MOSTLY_Q5_K_S}, {"Q5_K_M", LLAMA_FTYPE_MOSTLY_Q5_K_M},
    {"Q6_K", LLAMA_FTYPE_MOSTLY_Q6_K},     {"IQ4_NL", LLAMA_FTYPE_MOSTLY_IQ4_NL},
    {"IQ4_XS", LLAMA_FTYPE_MOSTLY_IQ4_XS},
};

llama_ftype FindFileType(const std::string& name) {
  for (const FileType& type : kFileTypes) {
    if (name == type.name) return type.type;
  }
  throw std::runtime_error("Unknown type " + name + "; use one of " + TypeNames());
}

// The type of the matrices, for the file types that need no quantizer.
bool IsDirect(llama_ftype file_type, ggml_type* matrix_type) {
  switch (file_type) {
    case LLAMA_FTYPE_ALL_F32:
      *matrix_type = GGML_TYPE_F32;
      return true;
    case LLAMA_FTYPE_MOSTLY_F16:
      *matrix_type = GGML_TYPE_F16;
      return true;
    case LLAMA_FTYPE_MOSTLY_BF16:
      *matrix_type = GGML_TYPE_BF16;
      return true;
    default:
      return false;
  }
}

std::string SizeLabel(const std::vector<Tensor>& tensors) {
  double parameters = 0;
  for (const Tensor& tensor : tensors) parameters += static_cast<double>(tensor.Elements());
  char label[32];
  if (parameters < 1e8) {
    std::snprintf(label, sizeof(label), "%.0fM", parameters / 1e6);
  } else {
    std::snprintf(label, sizeof(label), "%.1fB", parameters / 1e9);
  }
  return label;
}

void WriteUnquantized(const Shape& shape, const ModelOptions& options, ggml_type matrix_type,
                      llama_ftype file_type, const std::string& path, const Progress& progress) {
  const std::unique_ptr<gguf_context, decltype(&gguf_free)> meta(gguf_init_empty(), &gguf_free);
  gguf_set_val_str(meta.get(), "general.architecture", shape.architecture);
  gguf_set_val_str(meta.get(), "general.type", "model");
  gguf_set_val_str(meta.get(), "general.name",
                   (std::string(shape.name) + " (random weights)").c_str());
  gguf_set_val_u32(meta.get(), "general.file_type", file_type);
  gguf_set_val_bool(meta.get(), "oi.random_weights", true);
  gguf_set_val_u64(meta.get(), "oi.seed", options.seed);

  const int64_t vocabulary_size =
      CopyVocabulary(options.vocabulary_directory, options.vocabulary, shape.vocabulary_size,
                     LoadChatTemplate(options.chat_template), meta.get());
  SetHyperparameters(shape, vocabulary_size, meta.get());
  std::vector<Tensor> tensors = TensorsOf(shape, vocabulary_size);
  const Decision decision = LoadDecision(options.decision);
  SetDecision(decision, shape.architecture, meta.get());
  AddHead(decision, shape.width, tensors);
  AddPooledHead(shape, tensors);
  SetPooledHead(shape, meta.get());
  if (IsEncoder(shape) && shape.pooled == Pooled::kNone) SetParts(shape, options.seed, meta.get());
  gguf_set_val_str(meta.get(), "general.size_label", SizeLabel(tensors).c_str());
  WriteTensorFile(meta.get(), tensors, matrix_type, options.seed, options.threads, path, progress);
}

// What llama.cpp says while it quantizes: an error is kept for the exception, and of the
// rest only the count at the start of each tensor's line is of use.
struct QuantizerLog {
  const Progress& progress;
  std::string error;

  static void Receive(ggml_log_level level, const char* text, void* self_pointer) {
    auto* self = static_cast<QuantizerLog*>(self_pointer);
    int done = 0;
    int total = 0;
    if (level == GGML_LOG_LEVEL_ERROR) {
      self->error = text;
    } else if (std::sscanf(text, "[%d/%d]", &done, &total) == 2 && total > 0) {
      self->progress("quantizing", static_cast<double>(done) / total);
    }
  }
};

void Quantize(const std::string& from, const std::string& to, llama_ftype file_type, int threads,
              const Progress& progress) {
  llama_model_quantize_params params = llama_model_quantize_default_params();
  params.ftype = file_type;
  params.nthread = threads;
  params.max_buf_size = kQuantizerBufferBytes;

  QuantizerLog log{progress, ""};
  llama_log_set(&QuantizerLog::Receive, &log);
  const uint32_t status = llama_model_quantize(from.c_str(), to.c_str(), &params);
  llama_log_set(nullptr, nullptr);
  if (status != 0) throw std::runtime_error("llama.cpp could not quantize: " + log.error);
}

}  // namespace

std::string TypeNames() {
  std::string names;
  for (const FileType& type : kFileTypes)
    names += (names.empty() ? "" : " ") + std::string(type.name);
  return names;
}

void WriteProjector(const Projector& projector, const ModelOptions& options,
                    const Progress& progress) {
  const llama_ftype file_type = FindFileType(options.type);
  ggml_type matrix_type;
  if (!IsDirect(file_type, &matrix_type)) {
    throw std::runtime_error("A projector has the type F32, F16 or BF16, not " + options.type);
  }
  const std::unique_ptr<gguf_context, decltype(&gguf_free)> meta(gguf_init_empty(), &gguf_free);
  gguf_set_val_u32(meta.get(), "general.file_type", file_type);
  SetHyperparameters(projector, meta.get());
  TemporaryFile out(options.path, "");
  WriteTensorFile(meta.get(), TensorsOf(projector), matrix_type, options.seed, options.threads,
                  out.path(), progress);
  out.Commit();
}

void WriteModel(const Shape& shape, const ModelOptions& options, const Progress& progress) {
  const llama_ftype file_type = FindFileType(options.type);
  TemporaryFile out(options.path, "");
  ggml_type matrix_type;
  if (IsDirect(file_type, &matrix_type)) {
    WriteUnquantized(shape, options, matrix_type, file_type, out.path(), progress);
  } else {
    // Always through llama.cpp's quantizer: which tensor of a mixture gets which type is
    // its decision, and would be ours to keep in step otherwise.
    const TemporaryFile source(options.path, "-bf16");
    WriteUnquantized(shape, options, GGML_TYPE_BF16, LLAMA_FTYPE_MOSTLY_BF16, source.path(),
                     progress);
    Quantize(source.path(), out.path(), file_type, options.threads, progress);
  }
  out.Commit();
}

}  // namespace oi
