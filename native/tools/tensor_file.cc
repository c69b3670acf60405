#include "tensor_file.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

#include "random.h"

namespace oi {
namespace {

constexpr int64_t kElementsPerPiece = 1 << 22;

ggml_type StoredType(const Tensor& tensor, ggml_type matrix_type) {
  return tensor.fill == Fill::kMatrix ? matrix_type : GGML_TYPE_F32;
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
  TensorWriter(uint64_t seed, int threads, Appender& file)
      : seed_(seed),
        threads_(threads),
        file_(file),
        values_(kElementsPerPiece),
        stored_(kElementsPerPiece) {}

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
    const int64_t share = (count + threads_ - 1) / threads_;
    std::vector<std::jthread> threads;
    for (int64_t offset = 0; offset < count; offset += share) {
      threads.emplace_back([=, this, &tensor] {
        FillPiece(tensor, seed_, begin + offset, std::min(share, count - offset), type,
                  values_.data() + offset, stored_.data() + offset);
      });
    }
  }

  const uint64_t seed_;
  const int threads_;
  Appender& file_;
  std::vector<float> values_;
  std::vector<uint16_t> stored_;  // F16 and BF16
};

}  // namespace

void WriteTensorFile(gguf_context* meta, const std::vector<Tensor>& tensors, ggml_type matrix_type,
                     uint64_t seed, int threads, const std::string& path,
                     const Progress& progress) {
  AddTensors(tensors, matrix_type, meta);
  if (!gguf_write_to_file(meta, path.c_str(), /*only_meta=*/true)) {
    throw std::runtime_error("Cannot write " + path + ": is the disk full?");
  }
  Appender file(path);
  TensorWriter writer(seed, threads, file);
  for (size_t i = 0; i < tensors.size(); ++i) {
    progress("writing", static_cast<double>(i) / static_cast<double>(tensors.size()));
    writer.Write(tensors[i], StoredType(tensors[i], matrix_type));
  }
  file.Close();
  progress("writing", 1.0);
}

}  // namespace oi
