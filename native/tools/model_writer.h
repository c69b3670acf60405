// Writes models of random weights.

#pragma once

#include <cstdint>
#include <string>

#include "projector.h"
#include "shapes.h"
#include "tensor_file.h"

namespace oi {

struct ModelOptions {
  std::string path;
  std::string type;  // F32, F16, BF16 or a quantization; see TypeNames()
  uint64_t seed = 1;
  std::string vocabulary_directory;
  std::string vocabulary;
  std::string chat_template;
  std::string decision;  // type of a decision model; empty: none
  int threads = 1;
};

// The file appears at options.path when it is whole. Equal arguments but for `threads`
// give equal files. Throws std::runtime_error.
void WriteModel(const Shape& shape, const ModelOptions& options, const Progress& progress);

// The same; vocabulary and template are of no use.
void WriteProjector(const Projector& projector, const ModelOptions& options,
                    const Progress& progress);

// The types that WriteModel knows, in one line.
std::string TypeNames();

}  // namespace oi
