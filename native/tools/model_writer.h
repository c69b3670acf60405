// Writes a model of random weights: metadata first, then one tensor after the other, in
// pieces. Memory stays bounded by the pieces whatever the model's size.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "shapes.h"

namespace oi {

struct ModelOptions {
  std::string path;
  std::string type;  // F32, F16, BF16 or a quantization; see TypeNames()
  uint64_t seed = 1;
  std::string vocabulary_directory;
  std::string vocabulary;
  std::string chat_template;
  int threads = 1;
};

// What is being done, and how much of it is, from 0 to 1.
using Progress = std::function<void(std::string_view stage, double done)>;

// The file appears at options.path when it is whole. Equal arguments but for `threads`
// give equal files. Throws std::runtime_error.
void WriteModel(const Shape& shape, const ModelOptions& options, const Progress& progress);

// The types that WriteModel knows, in one line.
std::string TypeNames();

}  // namespace oi
