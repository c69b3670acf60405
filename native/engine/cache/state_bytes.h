// Memory for the bytes of a saved state.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace oi {

class FreeStateBytes {
 public:
  explicit FreeStateBytes(size_t mapped = 0) : mapped_(mapped) {}
  void operator()(uint8_t* bytes) const;

 private:
  size_t mapped_;  // bytes, 0 if they are of the heap
};

using StateBytes = std::unique_ptr<uint8_t[], FreeStateBytes>;

// Not initialized. Throws std::bad_alloc.
StateBytes MakeStateBytes(size_t size);

}  // namespace oi
