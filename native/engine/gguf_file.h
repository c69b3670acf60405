// The metadata of a GGUF file, arrays too, of which llama.cpp shows scalars only; and tensors.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ggml.h"

struct gguf_context;

namespace oi {

// Of a tensor, in single precision, row by row.
struct Matrix {
  size_t columns = 0;
  size_t rows = 0;  // 1 of a vector
  std::vector<float> values;
};

// What a file says of a tensor of two dimensions or three.
struct MatrixFacts {
  std::string name;
  ggml_type type;
  int64_t columns;
  int64_t rows;
  int64_t count;  // one, or one for each expert
  uint64_t bytes;
};

class GgufFile {
 public:
  // What cannot be read has no keys.
  explicit GgufFile(const std::string& path);
  ~GgufFile();

  GgufFile(const GgufFile&) = delete;
  GgufFile& operator=(const GgufFile&) = delete;

  bool Has(const std::string& key) const;
  // Nothing if the key is not there, or of another type.
  std::optional<std::string> Text(const std::string& key) const;
  std::optional<bool> Bool(const std::string& key) const;
  std::optional<uint32_t> Unsigned(const std::string& key) const;
  std::optional<float> Float(const std::string& key) const;
  // Of float32, or of uint16, which are the bits of half precision.
  std::optional<std::vector<float>> Floats(const std::string& key) const;
  std::optional<std::vector<uint32_t>> Unsigneds(const std::string& key) const;
  std::optional<std::vector<std::string>> Texts(const std::string& key) const;
  std::vector<MatrixFacts> Matrices() const;
  // Nothing if there is no such tensor. Throws EngineError ERR_MODEL_LOAD if it cannot be read.
  std::optional<Matrix> Tensor(const std::string& name) const;

 private:
  const std::string path_;
  gguf_context* const file_;
};

}  // namespace oi
