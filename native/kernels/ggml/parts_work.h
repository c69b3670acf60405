// Memory of a fused pass (../parts_forward.h): for all threads, and of each.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace oi::kernels {

struct AlignedDelete {
  void operator()(uint8_t* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
};

// Grows, and never shrinks; what was in it is lost.
class Memory {
 public:
  void Reserve(size_t bytes) {
    if (bytes <= size_) return;
    memory_.reset();
    size_ = 0;
    memory_.reset(static_cast<uint8_t*>(::operator new[](bytes, std::align_val_t{64})));
    size_ = bytes;
  }
  uint8_t* data() const { return memory_.get(); }

 private:
  std::unique_ptr<uint8_t[], AlignedDelete> memory_;
  size_t size_ = 0;
};

inline size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Of one thread, for the rows that it computes at a time.
struct PartsWork {
  uint8_t* attention;
  uint8_t* activations;
  uint8_t* residuals;  // converted
  float* left;         // residuals of one group of columns
  float* rows;         // [rows][width]
  float* hidden;       // [rows][hidden]
  float* parts;        // [rows][hidden]: results of residuals
  const float** sources;
  float** results;
  float** part_results;
};

}  // namespace oi::kernels
