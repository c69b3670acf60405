// The metadata of a GGUF file, arrays too, of which llama.cpp shows scalars only.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct gguf_context;

namespace oi {

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
  std::optional<uint32_t> Unsigned(const std::string& key) const;
  std::optional<float> Float(const std::string& key) const;
  std::optional<std::vector<float>> Floats(const std::string& key) const;
  std::optional<std::vector<std::string>> Texts(const std::string& key) const;

 private:
  gguf_context* const file_;
};

}  // namespace oi
