#include "gguf_file.h"

#include <cstring>
#include <fstream>

#include "error.h"
#include "ggml.h"
#include "gguf.h"

namespace oi {

GgufFile::GgufFile(const std::string& path)
    : path_(path), file_(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr})) {}

GgufFile::~GgufFile() {
  if (file_ != nullptr) gguf_free(file_);
}

namespace {

// The number of a key of this type; below 0 if there is none.
int64_t Find(const gguf_context* file, const std::string& key, gguf_type type) {
  const int64_t id = file == nullptr ? -1 : gguf_find_key(file, key.c_str());
  return id >= 0 && gguf_get_kv_type(file, id) == type ? id : -1;
}

int64_t FindArray(const gguf_context* file, const std::string& key, gguf_type of) {
  const int64_t id = Find(file, key, GGUF_TYPE_ARRAY);
  return id >= 0 && gguf_get_arr_type(file, id) == of ? id : -1;
}

}  // namespace

bool GgufFile::Has(const std::string& key) const {
  return file_ != nullptr && gguf_find_key(file_, key.c_str()) >= 0;
}

std::optional<std::string> GgufFile::Text(const std::string& key) const {
  const int64_t id = Find(file_, key, GGUF_TYPE_STRING);
  if (id < 0) return std::nullopt;
  return gguf_get_val_str(file_, id);
}

std::optional<bool> GgufFile::Bool(const std::string& key) const {
  const int64_t id = Find(file_, key, GGUF_TYPE_BOOL);
  if (id < 0) return std::nullopt;
  return gguf_get_val_bool(file_, id);
}

std::optional<uint32_t> GgufFile::Unsigned(const std::string& key) const {
  const int64_t id = Find(file_, key, GGUF_TYPE_UINT32);
  if (id < 0) return std::nullopt;
  return gguf_get_val_u32(file_, id);
}

std::optional<float> GgufFile::Float(const std::string& key) const {
  const int64_t id = Find(file_, key, GGUF_TYPE_FLOAT32);
  if (id < 0) return std::nullopt;
  return gguf_get_val_f32(file_, id);
}

std::optional<std::vector<float>> GgufFile::Floats(const std::string& key) const {
  if (const int64_t id = FindArray(file_, key, GGUF_TYPE_FLOAT32); id >= 0) {
    const auto* values = static_cast<const float*>(gguf_get_arr_data(file_, id));
    return std::vector<float>(values, values + gguf_get_arr_n(file_, id));
  }
  const int64_t id = FindArray(file_, key, GGUF_TYPE_UINT16);
  if (id < 0) return std::nullopt;
  const auto* halves = static_cast<const ggml_fp16_t*>(gguf_get_arr_data(file_, id));
  std::vector<float> values(gguf_get_arr_n(file_, id));
  ggml_fp16_to_fp32_row(halves, values.data(), static_cast<int64_t>(values.size()));
  return values;
}

std::optional<std::vector<uint32_t>> GgufFile::Unsigneds(const std::string& key) const {
  const int64_t id = FindArray(file_, key, GGUF_TYPE_UINT32);
  if (id < 0) return std::nullopt;
  const auto* values = static_cast<const uint32_t*>(gguf_get_arr_data(file_, id));
  return std::vector<uint32_t>(values, values + gguf_get_arr_n(file_, id));
}

std::optional<std::vector<std::string>> GgufFile::Texts(const std::string& key) const {
  const int64_t id = FindArray(file_, key, GGUF_TYPE_STRING);
  if (id < 0) return std::nullopt;
  std::vector<std::string> texts;
  for (size_t i = 0; i < gguf_get_arr_n(file_, id); ++i) {
    texts.emplace_back(gguf_get_arr_str(file_, id, i));
  }
  return texts;
}

std::vector<MatrixFacts> GgufFile::Matrices() const {
  std::vector<MatrixFacts> matrices;
  for (int64_t id = 0; file_ != nullptr && id < gguf_get_n_tensors(file_); ++id) {
    const int64_t* sizes = gguf_get_tensor_ne(file_, id);
    if (sizes[1] == 1) continue;
    matrices.push_back({gguf_get_tensor_name(file_, id), gguf_get_tensor_type(file_, id), sizes[0],
                        sizes[1], sizes[2], gguf_get_tensor_size(file_, id)});
  }
  return matrices;
}

std::optional<Matrix> GgufFile::Tensor(const std::string& name) const {
  const int64_t id = file_ == nullptr ? -1 : gguf_find_tensor(file_, name.c_str());
  if (id < 0) return std::nullopt;
  const auto refuse = [&](const char* what) {
    throw EngineError("ERR_MODEL_LOAD", path_ + ": " + name + ": " + what);
  };
  const int64_t* sizes = gguf_get_tensor_ne(file_, id);
  Matrix matrix{static_cast<size_t>(sizes[0]), static_cast<size_t>(sizes[1]), {}};
  std::vector<char> bytes(gguf_get_tensor_size(file_, id));
  std::ifstream file(path_, std::ios::binary);
  const size_t at = gguf_get_data_offset(file_) + gguf_get_tensor_offset(file_, id);
  file.seekg(static_cast<std::streamoff>(at));
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) refuse("is cut off");
  const ggml_type type = gguf_get_tensor_type(file_, id);
  const size_t count = matrix.columns * matrix.rows;
  if (sizes[2] != 1 || sizes[3] != 1) refuse("expected at most two dimensions");
  matrix.values.resize(count);
  if (type == GGML_TYPE_F32) {
    std::memcpy(matrix.values.data(), bytes.data(), count * sizeof(float));
  } else if (const auto to_float = ggml_get_type_traits(type)->to_float) {
    to_float(bytes.data(), matrix.values.data(), static_cast<int64_t>(count));
  } else {
    refuse("its type is not one of weights");
  }
  return matrix;
}

}  // namespace oi
