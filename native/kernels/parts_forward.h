// The forward pass of an encoder that is read in parts (../engine/prefix/), fused: what stands
// between two attentions is computed for a few rows at a time, which stay in a thread's cache, and
// threads meet once in a layer.
//
// BERT: learned positions, norms behind attention and feed-forward, GELU by its approximation with
// tanh, biases everywhere.
//
// Rule: a row's results depend on its token, position and type and on what its part sees, in every
// bit: not on other parts, on the threads, or on where cells lie.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "attention.h"
#include "part_attention.h"
#include "product.h"

struct ggml_tensor;
struct ggml_threadpool;

namespace oi::kernels {

struct PartsWeights {
  struct Matrix {
    const ggml_tensor* weights = nullptr;
    const float* bias = nullptr;
  };
  struct Norm {
    const float* weights = nullptr;
    const float* shift = nullptr;
  };
  struct Layer {
    Matrix query, key, value, output, up, down;
    Norm attention, feed_forward;
  };

  int64_t width = 0;
  int64_t heads = 0;
  int64_t hidden = 0;  // of the feed-forward
  float epsilon = 0;
  bool exact = false;                   // kernels.h
  const ggml_tensor* tokens = nullptr;  // of any type, in RAM, as the next two
  const ggml_tensor* positions = nullptr;
  const ggml_tensor* types = nullptr;
  Norm embedding;
  std::vector<Layer> layers;
};

// Cells that a part sees: kept ones, or those of the step's tokens from `first` on. Kept cells of n
// tokens lie as [layer][keys, values][n][width].
struct SeenCells {
  const uint8_t* kept = nullptr;
  size_t first = 0;
  size_t count = 0;

  bool operator==(const SeenCells& other) const {
    return kept == other.kept && first == other.first && count == other.count;
  }
};

// Tokens that see each other, and what is before them: a state sees nothing else, a question its
// state, an option its state and its question.
struct StepPart {
  size_t first = 0;  // of the step's tokens
  size_t count = 0;
  size_t levels = 0;  // of `before`
  SeenCells before[2];
  uint8_t* keep = nullptr;  // where its cells are kept; null: nowhere
  // Parts of one number follow one another, and see the same state.
  size_t group = 0;
};

struct PartsStep {
  std::vector<int32_t> tokens;
  std::vector<int32_t> positions;
  std::vector<int32_t> types;
  std::vector<StepPart> parts;
  std::vector<size_t> outputs;  // rows whose states are wanted, ascending
};

// True if all of its matrices are tiles, and everything else has a kernel.
bool HasPartsForward(const PartsWeights& weights);

// Memory that is used again from step to step.
class PartsForward {
 public:
  PartsForward(const PartsWeights& weights, CacheFormat format);
  ~PartsForward();
  PartsForward(const PartsForward&) = delete;
  PartsForward& operator=(const PartsForward&) = delete;

  // On `threads` threads at most. Throws std::bad_alloc.
  void Prepare(const PartsStep& step, int threads);
  // On each of `threads` threads of the pool, together. `abort` is polled between layers.
  void Compute(int thread, int threads, ggml_threadpool* pool, bool (*abort)(void*),
               void* abort_data);
  bool aborted() const;
  // After Compute(): the states behind the last layer, [outputs][width].
  const float* states() const;
  // Of all matmuls and attention, for the choice of threads; multiplications.
  double cost() const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace oi::kernels
