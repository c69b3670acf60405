// The sequence ids of a context, and operations on whole sequences.
//
// On the unified cache a copy shares cells; only recurrent layers hold a state per sequence.

#pragma once

#include <utility>
#include <vector>

#include "llama.h"
#include "sequence_memory.h"

namespace oi {

class Sequences {
 public:
  static constexpr llama_seq_id kNone = -1;

  // Ids 0 to `count - 1`. `window`: tokens that the layers of a sliding window see; 0 for a model
  // without one.
  Sequences(SequenceMemory& memory, llama_seq_id count, size_t window)
      : memory_(memory), count_(count), window_(window) {
    Reset();
  }

  llama_seq_id Take() {
    if (free_.empty()) return kNone;
    const llama_seq_id id = free_.back();
    free_.pop_back();
    return id;
  }

  size_t count() const { return static_cast<size_t>(count_); }

  // Empties the sequence and takes it back. Allocates nothing.
  void Free(llama_seq_id id) noexcept {
    memory_.Remove(id, -1);
    free_.push_back(id);
  }

  void Copy(llama_seq_id from, llama_seq_id to) { memory_.Copy(from, to); }

  // Keeps what stands before `position`. Not for recurrent models, nor where Holds() is false.
  void Cut(llama_seq_id id, size_t position) {
    memory_.Remove(id, static_cast<llama_pos>(position));
  }

  bool windowed() const { return window_ > 0; }

  // True if the sequence, cut to what stands before `position`, can be read on. Cells that have
  // left a sliding window are given to other tokens, so that a cut behind them would uncover a
  // hole: cells from the lowest position on are there, llama.cpp sees to that.
  bool Holds(llama_seq_id id, size_t position) const {
    if (window_ == 0 || position == 0) return true;
    const llama_pos lowest = memory_.Lowest(id);
    const auto needed = position < window_ ? 0 : static_cast<llama_pos>(position - window_ + 1);
    return lowest >= 0 && lowest <= needed;
  }

  bool IsHigh(llama_seq_id id, size_t position) const {
    return memory_.IsHigh(id, static_cast<llama_pos>(position));
  }

  // Empties all. With `data`, zeros stand in the memory too: attention multiplies what it does not
  // see by zero, which leaves a NaN a NaN.
  void Clear(bool data) {
    memory_.Clear(data);
    Reset();
  }

 private:
  void Reset() {
    free_.clear();
    free_.reserve(static_cast<size_t>(count_));
    for (llama_seq_id id = count_; id-- > 0;) free_.push_back(id);
  }

  SequenceMemory& memory_;
  const llama_seq_id count_;
  const size_t window_;
  std::vector<llama_seq_id> free_;
};

// A sequence that goes back where it is not kept.
class TakenSequence {
 public:
  TakenSequence(Sequences& sequences, llama_seq_id id) : sequences_(sequences), id_(id) {}
  TakenSequence(TakenSequence&& other) noexcept
      : sequences_(other.sequences_), id_(std::exchange(other.id_, Sequences::kNone)) {}
  ~TakenSequence() {
    if (*this) sequences_.Free(id_);
  }

  // False if there was none.
  explicit operator bool() const { return id_ != Sequences::kNone; }
  llama_seq_id id() const { return id_; }
  llama_seq_id Keep() { return std::exchange(id_, Sequences::kNone); }

 private:
  Sequences& sequences_;
  llama_seq_id id_;
};

}  // namespace oi
