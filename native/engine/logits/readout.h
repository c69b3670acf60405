// Reads a question's answer out of its row of logits, [vocabulary]: the logits of its candidates,
// their rank, and the log-sum-exp. Rows come to the host whole: so nothing of what is asked stands
// in llama.cpp's graph, and the next step of the same shape uses it again (../shapes.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../scoring_task.h"
#include "../types.h"

namespace oi {

class Readout {
 public:
  // `threads` read at once, where rows come from a device: those that compute on a CPU would wait.
  Readout(size_t vocabulary_size, size_t threads)
      : vocabulary_size_(vocabulary_size), threads_(threads) {}

  // A question that has a row in a step.
  struct Asked {
    ScoringTask* task;
    size_t item;
    size_t row;
    bool finite = false;
  };

  // Of the rows, [outputs, vocabulary], into the results of the tasks, and whether they are finite.
  // The rank is the number of tokens that are likelier than all candidates.
  void Read(std::vector<Asked>& asked, const float* rows);

  // Whether most of a row is finite: a single entry may be damaged, and is nobody's label.
  bool PlainIsFinite(const float* row) const;

  // Of logits that were read.
  uint64_t bytes() const { return rows_read_ * vocabulary_size_ * sizeof(float); }

 private:
  bool ReadRow(const Asked& asked, const float* logits) const;

  const size_t vocabulary_size_;
  const size_t threads_;
  uint64_t rows_read_ = 0;
};

}  // namespace oi
