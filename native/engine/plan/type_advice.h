// What another type of weights would bring on GPUs.

#pragma once

#include <cstdint>
#include <string>

namespace oi {

class Model;

// Of a model whose weights are all on GPUs, on which they may take `room` bytes; "" if nothing.
std::string TypeAdvice(const Model& model, uint64_t room);

}  // namespace oi
