// The sequence ids of a context, and what is done to whole sequences.
//
// On the unified cache a copy shares cells; only recurrent layers hold a state per sequence.

#pragma once

#include <vector>

#include "llama.h"

namespace oi {

class Sequences {
 public:
  static constexpr llama_seq_id kNone = -1;

  // Ids 0 to `count - 1`.
  Sequences(llama_memory_t memory, llama_seq_id count) : memory_(memory), count_(count) { Reset(); }

  llama_seq_id Take() {
    if (free_.empty()) return kNone;
    const llama_seq_id id = free_.back();
    free_.pop_back();
    return id;
  }

  // Empties the sequence and takes it back.
  void Free(llama_seq_id id) {
    llama_memory_seq_rm(memory_, id, -1, -1);
    free_.push_back(id);
  }

  void Copy(llama_seq_id from, llama_seq_id to) { llama_memory_seq_cp(memory_, from, to, -1, -1); }

  // Keeps what stands before `position`. Not for recurrent models.
  void Cut(llama_seq_id id, size_t position) {
    llama_memory_seq_rm(memory_, id, static_cast<llama_pos>(position), -1);
  }

  // True if a sliding window has let go of the sequence's beginning: it can be read on, but not
  // cut short.
  bool LostBeginning(llama_seq_id id) const { return llama_memory_seq_pos_min(memory_, id) > 0; }

  // Empties all, and the memory with them.
  void Clear() {
    llama_memory_clear(memory_, false);
    Reset();
  }

 private:
  void Reset() {
    free_.clear();
    for (llama_seq_id id = count_; id-- > 0;) free_.push_back(id);
  }

  const llama_memory_t memory_;
  const llama_seq_id count_;
  std::vector<llama_seq_id> free_;
};

}  // namespace oi
