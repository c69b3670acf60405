// Reads a question's answer out of its row of logits, [vocabulary]: the logits of its candidates,
// their rank, and the log-sum-exp. Rows come to the host whole: so nothing of what is asked stands
// in llama.cpp's graph, and the next step of the same shape uses it again (../shapes.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../context.h"
#include "../scoring_task.h"
#include "../types.h"

namespace oi {

class Readout {
 public:
  // `threads` read at once, where rows come from a device: those that compute on a CPU would wait.
  Readout(const Context& context, size_t vocabulary_size, size_t threads)
      : context_(context), vocabulary_size_(vocabulary_size), threads_(threads) {}

  // After a decode and llama_synchronize(): into the results of the tasks' runs that have a row in
  // it. The rank is the number of tokens that are likelier than all candidates. A run whose numbers
  // are not finite is refused (ScoringTask::Refuse). Throws EngineError ERR_ENGINE_INTERNAL.
  void Read(const std::vector<ScoringTask*>& tasks);

  // Whether most of a row is finite: a single entry may be damaged, and is nobody's label.
  bool PlainIsFinite(int32_t row) const;

  // Of logits that were read.
  uint64_t bytes() const { return rows_read_ * vocabulary_size_ * sizeof(float); }

 private:
  struct Asked {
    ScoringTask* task;
    size_t run;
    const float* row;
    bool finite = false;
  };

  const float* Row(int32_t row) const;
  void ReadRow(Asked& asked) const;

  const Context& context_;
  const size_t vocabulary_size_;
  const size_t threads_;
  std::vector<Asked> asked_;
  uint64_t rows_read_ = 0;
};

}  // namespace oi
