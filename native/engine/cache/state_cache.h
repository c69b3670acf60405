// Evaluated prefixes in three tiers: in the context, in RAM, on disk.
//
// Rules
//   1. A prefix that is evicted from the context is saved to RAM (device_tier.h, outer_tiers.h).
//   2. Idle cells cost time, as attention reads every cell. So their number is bounded, and almost
//      none stay while a new prefix is being evaluated; on a GPU, in a step of many tokens.
//   3. A prefix is looked up in all tiers. The match that saves the most tokens is used; of two
//      equal ones, that of the faster tier.
//   4. A recurrent state is used as a whole or not at all, and so is one that is longer than a
//      sliding window (saved_state.h). What an encoder has read is of use for the same text alone.
//   5. With a grid (deterministic mode) the context holds one prefix, in cells 0, 1, 2, …, and
//      what is kept of another ends where a batch did. So the cells of a cold, a cached and a
//      restored prefix are the same, and so are the sums over them. Of a sliding window only the
//      last cells are saved, and come back to other places: such models have no tier outside then.
//   6. A prefix is proved when a question behind it has had a finite answer: whatever is not finite
//      in a state makes all that is evaluated behind it so. Only what is proved goes to disk, and
//      what is not is forgotten in all tiers when an answer was not finite (Purge()).
//   7. What is found was evaluated for the same scope, or is a template's (wanted.h). What a scope
//      is told to have been cached is what it would have been without the others.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "../stats.h"
#include "../types.h"
#include "device_tier.h"
#include "outer_tiers.h"
#include "saved_state.h"

namespace oi {

class StateCache;

struct Unpinning {
  StateCache* cache = nullptr;
  void operator()(Prefix* prefix) const noexcept;
};
// Keeps a prefix in the context. Whoever releases it must call StateCache::Unpin().
using Pinned = std::unique_ptr<Prefix, Unpinning>;

class StateCache {
 public:
  struct Options {
    size_t cells;
    llama_seq_id sequences;
    size_t max_pinned;  // prefixes at once; the other sequences are left to forks
    size_t idle_cells;  // rule 2: at rest
    size_t busy_cells;  // rule 2: beside a prefix that is new, in a step of `busy_step` tokens
    size_t busy_step;
    size_t save_after;  // requests that make a prefix worth saving
    bool recurrent;
    bool whole;     // a prefix is of use for the same one alone
    size_t window;  // of sliding attention, tokens; 0 without it
    size_t grid;    // rule 5; 0 without it
    uint64_t host_bytes;
    std::string disk_folder;  // "" for none
    uint64_t disk_bytes;
  };

  // `memory` must outlive it.
  StateCache(SequenceMemory& memory, const Options& options);

  StateCache(const StateCache&) = delete;
  StateCache& operator=(const StateCache&) = delete;

  // A prefix that is pinned, and where its beginning came from. Null: not now. Either there is
  // no room, or another request is about to evaluate what this one could share, or the disk is
  // being read (`wait`).
  struct Found {
    Pinned prefix;
    bool wait = false;
    Tier tier = Tier::kNone;
    // Of the template's tokens, those that only other scopes had evaluated (rule 7).
    size_t foreign = 0;
  };

  // Leaves `spare` cells free besides those that the prefix will need. `token_seconds` is what
  // evaluating one takes, `step` how many the next step has already.
  Found Pin(const Wanted& wanted, size_t spare, double token_seconds, size_t step);
  void Unpin(Prefix& prefix) noexcept;

  // Tokens that Pin() would find, the disk aside.
  size_t Expect(const Wanted& wanted) const;

  // Whether the prefix would be saved if it were evicted.
  bool Saves(const Prefix& prefix) const { return prefix.requests >= options_.save_after; }

  // Rule 6, and all pointers to prefixes are void. What is proved moves to the host tier.
  void Purge();

  // Moves everything to the disk tier, if there is one.
  void Flush();

  DeviceTier& device() { return device_; }
  const DeviceTier& device() const { return device_; }
  CacheStats stats() const;

  // Waits a moment for a state that a Pin() waits for. False if there is none.
  bool AwaitRead() { return outer_.AwaitRead(); }

 private:
  size_t Resident(const Prefix& prefix, const Wanted& wanted, size_t best) const;
  Prefix* Extend(Prefix& prefix, const Wanted& wanted, size_t length, size_t spare);
  Prefix* Restore(const OuterTiers::Match& match, const Wanted& wanted, size_t spare);
  Pinned Take(Prefix* prefix);
  void TrimIdle(size_t cells);
  void Save(const Prefix& prefix) noexcept;
  void TrySave(const Prefix& prefix);

  SequenceMemory& memory_;
  const Options options_;
  const Reuse reuse_;
  OuterTiers outer_;
  DeviceTier device_;
};

}  // namespace oi
