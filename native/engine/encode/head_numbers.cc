#include "head_numbers.h"

#include <optional>
#include <utility>

#include "../error.h"
#include "../gguf_file.h"

namespace oi {

void RefuseKey(const std::string& key, const std::string& what) {
  throw EngineError("ERR_MODEL_UNSUPPORTED", key + ": " + what);
}

std::vector<float> ReadNumbers(const GgufFile& file, const std::string& key, size_t count) {
  std::optional<std::vector<float>> values = file.Floats(key);
  if (!values) RefuseKey(key, "expected an array of float32, or of uint16");
  if (values->size() != count) {
    RefuseKey(key, "expected " + std::to_string(count) + " numbers, got " +
                       std::to_string(values->size()));
  }
  return std::move(*values);
}

std::vector<float> ReadUnits(const GgufFile& file, const std::string& key) {
  std::vector<float> values = file.Floats(key).value_or(std::vector<float>());
  if (values.empty() || values.size() > kMostUnits) {
    RefuseKey(key,
              "expected an array of 1 to " + std::to_string(kMostUnits) + " float32, or uint16");
  }
  return values;
}

float ReadNumber(const GgufFile& file, const std::string& key) {
  const std::optional<float> value = file.Float(key);
  if (!value) RefuseKey(key, "expected a float32");
  return *value;
}

}  // namespace oi
