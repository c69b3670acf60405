#include "model_writer.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "architecture.h"
#include "chat_template.h"
#include "ggml.h"
#include "gguf.h"
#include "llama.h"
#include "random.h"
#include "temporary_file.h"
#include "vocabulary.h"

namespace oi {
namespace {

constexpr int64_t kElementsPerPiece = 1 << 22;
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

ggml_type StoredType(const Tensor& tensor, ggml_type matrix_type) {
  return tensor.fill == Fill::kMatrix ? matrix_type : GGML_TYPE_F32;
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

void AddTensors(const std::vector<Tensor>& tensors, ggml_type matrix_type, gguf_context* out) {
  const ggml_init_params params = {
      .mem_size = ggml_tensor_overhead() * tensors.size(), .mem_buffer = nullptr, .no_alloc = true};
  const std::unique_ptr<ggml_context, decltype(&ggml_free)> context(ggml_init(params), &ggml_free);
  for (const Tensor& tensor : tensors) {
    ggml_tensor* info = ggml_new_tensor(context.get(), StoredType(tensor, matrix_type),
                                        static_cast<int>(tensor.dims.size()), tensor.dims.data());
    ggml_set_name(info, tensor.name.c_str());
    gguf_add_tensor(out, info);
  }
}

// Appends to a file; throws on the first byte that does not fit.
class Appender {
 public:
  explicit Appender(const std::string& path)
      : path_(path), file_(std::fopen(path.c_str(), "ab"), &std::fclose) {
    Check(file_ != nullptr);
  }

  void Append(const void* data, size_t bytes) {
    Check(std::fwrite(data, 1, bytes, file_.get()) == bytes);
  }

  void Close() { Check(std::fclose(file_.release()) == 0); }

 private:
  void Check(bool written) const {
    if (!written) throw std::runtime_error("Cannot write " + path_ + ": is the disk full?");
  }

  const std::string path_;
  std::unique_ptr<FILE, decltype(&std::fclose)> file_;
};

// Draws the values [begin, begin + count) of a tensor and converts them to `type`.
void FillPiece(const Tensor& tensor, uint64_t seed, int64_t begin, int64_t count, ggml_type type,
               float* values, void* stored) {
  FillValues(tensor, seed, begin, count, values);
  if (type == GGML_TYPE_F16) {
    ggml_fp32_to_fp16_row(values, static_cast<ggml_fp16_t*>(stored), count);
  } else if (type == GGML_TYPE_BF16) {
    ggml_fp32_to_bf16_row(values, static_cast<ggml_bf16_t*>(stored), count);
  }
}

class TensorWriter {
 public:
  TensorWriter(const ModelOptions& options, Appender& file)
      : options_(options), file_(file), values_(kElementsPerPiece), stored_(kElementsPerPiece) {}

  void Write(const Tensor& tensor, ggml_type type) {
    const size_t element_bytes = ggml_type_size(type);
    const int64_t elements = tensor.Elements();
    for (int64_t begin = 0; begin < elements; begin += kElementsPerPiece) {
      const int64_t count = std::min(kElementsPerPiece, elements - begin);
      Fill(tensor, type, begin, count);
      const void* piece = type == GGML_TYPE_F32 ? static_cast<const void*>(values_.data())
                                                : static_cast<const void*>(stored_.data());
      file_.Append(piece, count * element_bytes);
    }
    const size_t bytes = elements * element_bytes;
    const char padding[GGUF_DEFAULT_ALIGNMENT] = {};
    file_.Append(padding, GGML_PAD(bytes, GGUF_DEFAULT_ALIGNMENT) - bytes);
  }

 private:
  void Fill(const Tensor& tensor, ggml_type type, int64_t begin, int64_t count) {
    const int64_t share = (count + options_.threads - 1) / options_.threads;
    std::vector<std::jthread> threads;
    for (int64_t offset = 0; offset < count; offset += share) {
      threads.emplace_back([=, this, &tensor] {
        FillPiece(tensor, options_.seed, begin + offset, std::min(share, count - offset), type,
                  values_.data() + offset, stored_.data() + offset);
      });
    }
  }

  const ModelOptions& options_;
  Appender& file_;
  std::vector<float> values_;
  std::vector<uint16_t> stored_;  // F16 and BF16
};

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
  const std::vector<Tensor> tensors = TensorsOf(shape, vocabulary_size);
  gguf_set_val_str(meta.get(), "general.size_label", SizeLabel(tensors).c_str());
  AddTensors(tensors, matrix_type, meta.get());

  if (!gguf_write_to_file(meta.get(), path.c_str(), /*only_meta=*/true)) {
    throw std::runtime_error("Cannot write " + path + ": is the disk full?");
  }
  Appender file(path);
  TensorWriter writer(options, file);
  for (size_t i = 0; i < tensors.size(); ++i) {
    progress("writing", static_cast<double>(i) / static_cast<double>(tensors.size()));
    writer.Write(tensors[i], StoredType(tensors[i], matrix_type));
  }
  file.Close();
  progress("writing", 1.0);
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
