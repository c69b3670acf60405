#include "state_cache.h"

#include <algorithm>
#include <utility>

namespace oi {
namespace {

// Waiting for another request's evaluation costs a step, which fewer shared tokens are not worth.
constexpr size_t kWorthWaiting = 64;
// Looking for shorter prefixes takes as long as evaluating them.
constexpr size_t kWorthSaving = 32;

}  // namespace

StateCache::StateCache(SequenceMemory& memory, const Options& options)
    : memory_(memory),
      options_(options),
      reuse_{options.recurrent, options.grid, options.window, options.whole},
      outer_(options.host_bytes, options.disk_folder, options.disk_bytes, reuse_),
      device_(memory, options.cells, options.sequences, options.window,
              !options.recurrent && !options.whole && options.grid == 0,
              [this](const Prefix& prefix) { Save(prefix); }) {}

// Tokens that the evaluated part of `prefix` saves, if more than `best`; else any number that is
// not.
size_t StateCache::Resident(const Prefix& prefix, const std::vector<Token>& tokens,
                            size_t best) const {
  if (options_.whole) return 0;  // rule 4: who asks has seen whether it is the same
  // Not complete: what there is ends in the middle of something.
  if (prefix.missing() > 0 && (options_.recurrent || options_.grid > 0)) return 0;
  if (!Reuse::MayExceed(prefix.tokens, tokens, best)) return 0;
  // Of a sliding window, the context holds more than a saved state does.
  const Reuse reuse{options_.recurrent, options_.grid};
  // An incomplete one ends behind whole batches, so inside no image.
  const size_t found = prefix.missing() == 0
                           ? reuse.Tokens(prefix.tokens, tokens, best)
                           : std::min(prefix.evaluated, CommonPrefix(prefix.tokens, tokens));
  return found == 0 || options_.recurrent || device_.CanCut(prefix, found) ? found : 0;
}

size_t StateCache::Expect(const std::vector<Token>& tokens) const {
  size_t best = outer_.Expect(tokens);
  for (const Prefix& prefix : device_.prefixes()) {
    // A task that shares a prefix which is being evaluated waits for it and evaluates nothing.
    best = std::max(best, prefix.tokens == tokens ? tokens.size() : Resident(prefix, tokens, best));
  }
  return best;
}

StateCache::Found StateCache::Pin(const std::vector<Token>& tokens, size_t spare,
                                  double token_seconds) {
  Prefix* source = nullptr;
  size_t resident = 0;
  size_t promised = 0;
  for (Prefix& prefix : device_.prefixes()) {
    if (prefix.tokens == tokens) {
      // A sequence that one more pinned prefix holds would be lacking for questions.
      if (prefix.pins == 0 && device_.Pinned() >= options_.max_pinned) return {};
      const size_t missing = prefix.pins > 0 ? 0 : prefix.missing();  // else reserved already
      ++prefix.pins;
      if (!device_.MakeRoom(missing + spare)) {
        --prefix.pins;
        return {};
      }
      ++prefix.requests;
      device_.Touch(prefix);
      return {.prefix = &prefix, .tier = Tier::kDevice};
    }
    if (prefix.pins > 0 && prefix.missing() > 0) {
      promised = std::max(promised, reuse_.Tokens(prefix.tokens, tokens, promised));
    }
    const size_t found = Resident(prefix, tokens, resident);
    if (found <= resident) continue;
    source = &prefix;
    resident = found;
  }
  if (promised > resident + kWorthWaiting && promised > outer_.Expect(tokens) + kWorthWaiting) {
    return {.prefix = nullptr, .wait = true};
  }
  if (device_.Pinned() >= options_.max_pinned) return {};
  // Before anything is read, copied or evicted for it.
  if (!device_.CanBranch(source, resident, tokens.size() - resident + spare)) return {};

  Found found;
  const OuterTiers::Match outer = outer_.Find(tokens, resident, token_seconds);
  if (outer.pending) return {.prefix = nullptr, .wait = true};
  if (outer.state) {
    if (options_.grid > 0) {
      device_.EvictAll();  // rule 5
      source = nullptr;
      resident = 0;
    }
    if (source != nullptr) ++source->pins;  // in case that it is still needed
    found = {.prefix = Restore(outer, tokens, spare), .tier = outer.tier};
    if (source != nullptr) --source->pins;
  }
  if (found.prefix == nullptr) {
    // An idle prefix that this one goes on from would find nothing that this one does not.
    const bool goes_on = source != nullptr && source->pins == 0 && !options_.recurrent &&
                         resident == source->evaluated;
    const bool only_one = source != nullptr && options_.grid > 0;
    if (goes_on || only_one) {
      found.prefix = Extend(*source, tokens, resident, spare);
    } else {
      if (options_.grid > 0) device_.EvictAll();
      found.prefix = device_.Branch(source, tokens, resident, tokens.size() - resident + spare);
    }
    found.tier = resident > 0 ? Tier::kDevice : Tier::kNone;
  }
  if (found.prefix != nullptr) {
    ++found.prefix->pins;
    ++found.prefix->requests;
    TrimIdle(options_.busy_cells);
  }
  return found;
}

// Makes an idle prefix' first `length` tokens the beginning of another one.
Prefix* StateCache::Extend(Prefix& prefix, const std::vector<Token>& tokens, size_t length,
                           size_t spare) {
  device_.FreeForks(prefix);
  if (length < prefix.evaluated) {
    Save(prefix);
    device_.Cut(prefix, length);
    prefix.tokens.resize(length);
  }
  ++prefix.pins;  // not to be evicted for itself
  const bool room = device_.MakeRoom(tokens.size() - length + spare);
  --prefix.pins;
  if (!room) return nullptr;
  prefix.tokens = tokens;
  prefix.requests = 0;
  device_.Touch(prefix);
  return &prefix;
}

// Null if there is no room, or llama.cpp does not take the state.
Prefix* StateCache::Restore(const OuterTiers::Match& match, const std::vector<Token>& tokens,
                            size_t spare) {
  const SavedState& state = *match.state;
  // The whole state comes back before it can be cut.
  if (!device_.MakeRoom(std::max(state.tokens.size(), tokens.size()) + spare)) return nullptr;
  const llama_seq_id sequence = device_.TakeSequence();
  if (sequence == Sequences::kNone) return nullptr;
  const bool cut = match.tokens < state.tokens.size();
  Sequences& sequences = device_.sequences();
  const size_t end = PositionAt(tokens, match.tokens);
  if (!memory_.Load(sequence, state.data.get(), state.size) || !sequences.Holds(sequence, end)) {
    sequences.Free(sequence);
    outer_.Refuse(match);  // it would be refused again
    return nullptr;
  }
  if (cut) sequences.Cut(sequence, end);
  Prefix& prefix = device_.Add(tokens, sequence);
  device_.Grow(prefix, match.tokens);
  if (state.proved) prefix.proved = match.tokens;
  outer_.Taken(match);
  return &prefix;
}

void StateCache::Unpin(Prefix& prefix) {
  if (--prefix.pins > 0) return;
  if (prefix.missing() > 0) {
    // Cancelled while it was evaluated: the evaluated part is the prefix now, unless another one is
    // the same.
    prefix.tokens.resize(prefix.evaluated);
    const auto& all = device_.prefixes();
    const bool same = std::any_of(all.begin(), all.end(), [&](const Prefix& entry) {
      return &entry != &prefix && entry.tokens == prefix.tokens;
    });
    if (same || prefix.tokens.empty() || options_.grid > 0) return device_.Evict(prefix);
  }
  TrimIdle(options_.idle_cells);
}

void StateCache::TrimIdle(size_t cells) {
  while (device_.IdleCells() > cells && device_.EvictOne()) {
  }
}

void StateCache::Save(const Prefix& prefix) {
  if (prefix.requests < options_.save_after || prefix.evaluated < kWorthSaving) return;
  const bool proved = prefix.proved >= prefix.evaluated;
  if (!outer_.Wants(prefix.tokens, 1, proved)) return;  // before its size is counted
  const size_t size = memory_.Bytes(prefix.sequence);
  auto state = std::make_shared<SavedState>();
  state->tokens = prefix.tokens;
  state->size = size;
  state->proved = proved;
  if (!outer_.Wants(state->tokens, state->bytes(), proved)) return;
  state->data = MakeStateBytes(size);
  if (!memory_.Save(prefix.sequence, state->data.get(), size)) return;
  outer_.Put(std::move(state));
}

void StateCache::Purge() {
  outer_.ForgetUnproved();
  for (Prefix& prefix : device_.prefixes()) {
    if (prefix.proved < prefix.evaluated) {
      if (options_.recurrent || options_.whole || options_.grid > 0 || prefix.proved == 0 ||
          !device_.CanCut(prefix, prefix.proved)) {
        continue;
      }
      device_.Cut(prefix, prefix.proved);
    }
    prefix.tokens.resize(prefix.evaluated);
    Save(prefix);
  }
  device_.Clear(true);
}

void StateCache::Flush() {
  if (!outer_.persistent()) return;
  device_.EvictAll();
  outer_.Flush();
}

CacheStats StateCache::stats() const {
  CacheStats stats;
  stats.device_cells = device_.cells().total();
  stats.device_cells_used = device_.cells().used();
  stats.device_prefixes = device_.prefixes().size();
  outer_.AddTo(stats);
  return stats;
}

}  // namespace oi
