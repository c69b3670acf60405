// Tokens of one llama_decode call, in storage that is used again.

#pragma once

#include <cstddef>
#include <vector>

#include "llama.h"
#include "types.h"

namespace oi {

class Batch {
 public:
  explicit Batch(size_t capacity) {
    tokens_.reserve(capacity);
    positions_.reserve(capacity);
    sequences_.reserve(capacity);
    counts_.reserve(capacity);
    outputs_.reserve(capacity);
  }

  void Add(Token token, size_t position, llama_seq_id sequence, bool output) {
    tokens_.push_back(token);
    positions_.push_back(static_cast<llama_pos>(position));
    sequences_.push_back(sequence);
    counts_.push_back(1);
    outputs_.push_back(output);
  }

  // A token that sequences 0 to `sequences - 1` have in common; without output.
  void AddShared(Token token, size_t position, size_t sequences) {
    Add(token, position, 0, false);
    counts_.back() = static_cast<int32_t>(sequences);
    while (shared_.size() < sequences) shared_.push_back(static_cast<llama_seq_id>(shared_.size()));
  }

  void Clear() {
    tokens_.clear();
    positions_.clear();
    sequences_.clear();
    counts_.clear();
    outputs_.clear();
  }

  size_t size() const { return tokens_.size(); }

  // Valid until the next Add() or Clear().
  llama_batch View() {
    pointers_.resize(size());
    for (size_t i = 0; i < size(); ++i) {
      pointers_[i] = counts_[i] > 1 ? shared_.data() : &sequences_[i];
    }
    llama_batch batch{};
    batch.n_tokens = static_cast<int32_t>(size());
    batch.token = tokens_.data();
    batch.pos = positions_.data();
    batch.n_seq_id = counts_.data();
    batch.seq_id = pointers_.data();
    batch.logits = outputs_.data();
    return batch;
  }

 private:
  std::vector<llama_token> tokens_;
  std::vector<llama_pos> positions_;
  std::vector<llama_seq_id> sequences_;
  std::vector<llama_seq_id> shared_;  // 0, 1, 2, …
  std::vector<int8_t> outputs_;
  std::vector<int32_t> counts_;
  std::vector<llama_seq_id*> pointers_;
};

}  // namespace oi
