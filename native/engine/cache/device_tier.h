// Prefixes in the context: their sequences, the cells that they share, and making room.
//
// Rules
//   1. A prefix has a sequence of its own. Prefixes that begin alike share the cells of their
//      common beginning (cells.h).
//   2. A prefix is pinned while a task reads or evaluates it. Others are evicted when room is
//      needed, the least recently used first; `leaving` is given each of them before.

#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "../input/image_tokens.h"
#include "../types.h"
#include "cells.h"
#include "sequences.h"
#include "wanted.h"

namespace oi {

// Its first `evaluated` tokens are in cells, under `sequence`.
struct Prefix {
  std::string scope;
  std::vector<Token> tokens;
  size_t template_tokens = 0;  // of the first: as in wanted.h
  size_t evaluated = 0;
  size_t proved = 0;  // of its first tokens: an answer behind them was finite
  llama_seq_id sequence = Sequences::kNone;
  Cells::Chain cells;
  std::vector<llama_seq_id> forks;  // idle sequences that hold what `sequence` holds
  size_t pins = 0;
  size_t requests = 0;  // how many have asked for it
  uint64_t used = 0;    // when, counted in uses of all

  size_t missing() const { return tokens.size() - evaluated; }
  bool Is(const Wanted& wanted) const { return scope == wanted.scope && tokens == wanted.tokens; }
  // From now on it is that one, whose first tokens it has.
  void Become(const Wanted& wanted) {
    std::string new_scope = wanted.scope;
    tokens = wanted.tokens;  // what it throws leaves everything as it was
    scope = std::move(new_scope);
    template_tokens = wanted.template_tokens;
  }
  // In the context, of the token at `index`.
  size_t Position(size_t index) const { return PositionAt(tokens, index); }
};

// Keeps a prefix, if there is one, from being evicted meanwhile.
class Hold {
 public:
  explicit Hold(Prefix* prefix) : prefix_(prefix) {
    if (prefix_ != nullptr) ++prefix_->pins;
  }
  ~Hold() {
    if (prefix_ != nullptr) --prefix_->pins;
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Prefix* const prefix_;
};

class DeviceTier {
 public:
  using Leaving = std::function<void(const Prefix&)>;  // must not throw

  // `forks_last`: a fork is of use for several questions, one after another. `window`: as in
  // sequences.h.
  DeviceTier(SequenceMemory& memory, size_t cells, llama_seq_id sequences, size_t window,
             bool forks_last, Leaving leaving)
      : forks_last_(forks_last),
        leaving_(std::move(leaving)),
        sequences_(memory, sequences, window),
        cells_(cells) {}

  DeviceTier(const DeviceTier&) = delete;
  DeviceTier& operator=(const DeviceTier&) = delete;

  std::list<Prefix>& prefixes() { return prefixes_; }
  const std::list<Prefix>& prefixes() const { return prefixes_; }
  const Cells& cells() const { return cells_; }
  Sequences& sequences() { return sequences_; }

  // One without tokens in cells yet, not pinned.
  Prefix& Add(const Wanted& wanted, TakenSequence sequence);
  // True if Branch() would have the cells.
  bool CanBranch(const Prefix* source, size_t length, size_t room) {
    return CanMakeRoom(room, Share(source, length));
  }
  // One that shares the first `length` tokens of `source`, and `room` cells free besides. Null
  // if there is no room or no sequence.
  Prefix* Branch(Prefix* source, const Wanted& wanted, size_t length, size_t room);
  // `count` tokens more are in the prefix' cells.
  void Grow(Prefix& prefix, size_t count);
  // True if the prefix' first `length` tokens can be read on without the others. Not for recurrent
  // models.
  bool CanCut(const Prefix& prefix, size_t length) const {
    return length == prefix.evaluated || !sequences_.windowed() ||
           sequences_.Holds(prefix.sequence, prefix.Position(length));
  }
  // As in sequence_memory.h.
  bool IsHigh(const Prefix& prefix, size_t length) const {
    return sequences_.IsHigh(prefix.sequence, prefix.Position(length));
  }
  // Only the first `length` tokens stay, where CanCut().
  void Cut(Prefix& prefix, size_t length);
  void Touch(Prefix& prefix) { prefix.used = ++clock_; }
  void Evict(Prefix& prefix) noexcept;

  // A sequence that holds what the prefix holds so far; kNone if all are in use.
  llama_seq_id Fork(Prefix& prefix);
  // Takes back a fork that holds `suffix` tokens besides.
  void Return(Prefix& prefix, llama_seq_id fork, size_t suffix) noexcept;
  void FreeForks(Prefix& prefix) noexcept;

  // A free sequence; else an idle fork of the prefix that was used longest ago; else the
  // sequence of an idle prefix; else none.
  TakenSequence TakeSequence();
  // False if so many cells cannot be free while `kept` and what is pinned stay; else they are.
  // Nothing is evicted in vain.
  bool MakeRoom(size_t cells, const Cells::Chain& kept = nullptr);
  bool EvictOne() noexcept;
  void EvictAll();
  // Forgets all, pinned ones too: pointers to them are void. `data` as in sequences.h.
  void Clear(bool data);

  size_t Pinned() const;
  size_t IdleCells() const { return cells_.used() - KeptCells(nullptr); }

 private:
  Cells::Chain Share(const Prefix* source, size_t length) {
    return source == nullptr ? nullptr : cells_.Share(source->cells, length);
  }
  bool CanMakeRoom(size_t cells, const Cells::Chain& kept) const;
  // Of what is pinned, and of `chain`.
  size_t KeptCells(const Cells::Chain& chain) const;

  const bool forks_last_;
  const Leaving leaving_;
  Sequences sequences_;
  Cells cells_;  // before prefixes_, whose chains count in it
  std::list<Prefix> prefixes_;
  uint64_t clock_ = 0;
};

}  // namespace oi
