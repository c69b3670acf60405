// The numbers of a head, from its file.

#pragma once

#include <string>
#include <vector>

namespace oi {

class GgufFile;

// Units of a layer at most.
constexpr size_t kMostUnits = 65536;

// Throws EngineError ERR_MODEL_UNSUPPORTED that names the key.
[[noreturn]] void RefuseKey(const std::string& key, const std::string& what);

// Exactly `count` numbers. Throws as RefuseKey().
std::vector<float> ReadNumbers(const GgufFile& file, const std::string& key, size_t count);

// One number for each unit of a layer, 1 to kMostUnits. Throws as RefuseKey().
std::vector<float> ReadUnits(const GgufFile& file, const std::string& key);

// Throws as RefuseKey().
float ReadNumber(const GgufFile& file, const std::string& key);

}  // namespace oi
