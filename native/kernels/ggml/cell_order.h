// What a task of attention sees of a KV cache, in the order of its sequences, so that results do
// not depend on where cells lie: of a cache that many sequences share, that is how its cells come
// to lie.

#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "../attention.h"
#include "../kernels.h"

namespace oi::kernels {

class OrderedCells {
 public:
  // `order`: null if cells lie as tokens follow one another.
  explicit OrderedCells(const CellOrder* order) : order_(order) {}

  // Before each operation, by one thread while the others wait. False if it is over cells of which
  // nobody knows the order.
  bool Update(const AttentionShape& shape);

  // The shape with those cells alone that the task's tokens see; it refers to memory of this thread
  // until it calls again. By all threads, behind Update().
  AttentionShape SeenBy(const AttentionKernel& kernel, const AttentionShape& shape, int threads,
                        int64_t task) const;

 private:
  struct Cache {
    const uint8_t* first_keys = nullptr;  // of the layer that a graph begins with
    uint64_t number = 0;                  // another one for each graph of all pools
    std::vector<int64_t> ranks;           // of its cells
  };

  const CellOrder* order_;
  std::deque<Cache> caches_;
  const Cache* now_ = nullptr;  // of the operation; null: not known
};

}  // namespace oi::kernels
