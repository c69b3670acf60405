// The tokens of one llama_decode call, in storage that is reused.

#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <deque>
#include <vector>

#include "llama.h"
#include "types.h"

namespace oi {

class Batch {
 public:
  static constexpr size_t kMaxSequences = 256;  // llama.cpp's LLAMA_MAX_SEQ

  explicit Batch(size_t capacity) {
    tokens_.reserve(capacity);
    positions_.reserve(capacity);
    counts_.reserve(capacity);
    sequences_.reserve(capacity);
    outputs_.reserve(capacity);
  }

  void Add(Token token, size_t position, llama_seq_id sequence, bool output) {
    // Consecutive tokens of one sequence share an entry.
    if (lists_.empty() || lists_.back().size() != 1 || lists_.back().front() != sequence) {
      lists_.push_back({sequence});
      present_.set(static_cast<size_t>(sequence));
    }
    Append(token, position, output);
  }

  // Tokens that several sequences have in common, without output. The first sequence is the
  // one that llama.cpp looks at in its mask.
  void AddShared(const Token* tokens, size_t count, size_t position,
                 std::vector<llama_seq_id> sequences) {
    for (const llama_seq_id sequence : sequences) present_.set(static_cast<size_t>(sequence));
    lists_.push_back(std::move(sequences));
    for (size_t i = 0; i < count; ++i) Append(tokens[i], position + i, false);
  }

  void Clear() {
    tokens_.clear();
    positions_.clear();
    counts_.clear();
    sequences_.clear();
    outputs_.clear();
    lists_.clear();
    present_.reset();
  }

  // Makes outputs of `count` tokens that are none, if there are so many.
  void AddOutputs(size_t count) {
    for (size_t i = 0; i < outputs_.size() && count > 0; ++i) {
      if (outputs_[i] != 0) continue;
      outputs_[i] = 1;
      --count;
    }
  }

  // How many outputs are before the token at `index`.
  size_t OutputsBefore(size_t index) const {
    const auto end = outputs_.begin() + static_cast<ptrdiff_t>(index);
    return static_cast<size_t>(std::count(outputs_.begin(), end, 1));
  }

  size_t size() const { return tokens_.size(); }
  size_t sequences() const { return present_.count(); }

  // All, or some of them. Valid until the next Add() or Clear().
  llama_batch View() { return View(0, size()); }
  llama_batch View(size_t begin, size_t count) {
    llama_batch batch{};
    batch.n_tokens = static_cast<int32_t>(count);
    batch.token = tokens_.data() + begin;
    batch.pos = positions_.data() + begin;
    batch.n_seq_id = counts_.data() + begin;
    batch.seq_id = sequences_.data() + begin;
    batch.logits = outputs_.data() + begin;
    return batch;
  }

 private:
  void Append(Token token, size_t position, bool output) {
    tokens_.push_back(token);
    positions_.push_back(static_cast<llama_pos>(position));
    counts_.push_back(static_cast<int32_t>(lists_.back().size()));
    sequences_.push_back(lists_.back().data());
    outputs_.push_back(output);
  }

  std::vector<llama_token> tokens_;
  std::vector<llama_pos> positions_;
  std::vector<int32_t> counts_;
  std::vector<llama_seq_id*> sequences_;
  std::vector<int8_t> outputs_;
  std::deque<std::vector<llama_seq_id>> lists_;  // a deque: entries stay where they are
  std::bitset<kMaxSequences> present_;
};

}  // namespace oi
