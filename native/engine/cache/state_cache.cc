#include "state_cache.h"

#include <algorithm>
#include <utility>

namespace oi {
namespace {

// Waiting for another request's evaluation costs a step, which fewer shared tokens are not worth.
constexpr size_t kWorthWaiting = 64;
// So few tokens are evaluated again rather than shared where their cells lie high: what all
// requests share would stay there as long as there are any.
constexpr size_t kWorthMoving = 256;
// Looking for shorter prefixes takes as long as evaluating them.
constexpr size_t kWorthSaving = 32;

}  // namespace

void Unpinning::operator()(Prefix* prefix) const noexcept { cache->Unpin(*prefix); }

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
size_t StateCache::Resident(const Prefix& prefix, const Wanted& wanted, size_t best) const {
  if (options_.whole) return 0;  // rule 4: who asks has seen whether it is the same
  // Not complete: what there is ends in the middle of something.
  if (prefix.missing() > 0 && (options_.recurrent || options_.grid > 0)) return 0;
  const size_t most = wanted.Sharable(prefix.scope, prefix.template_tokens);
  if (best >= most || !Reuse::MayExceed(prefix.tokens, wanted.tokens, best)) return 0;
  // Of a sliding window, the context holds more than a saved state does.
  const Reuse reuse{options_.recurrent, options_.grid};
  // An incomplete one ends behind whole batches, so inside no image.
  const size_t found =
      prefix.missing() == 0
          ? reuse.Tokens(prefix.tokens, wanted.tokens, best, most)
          : std::min({prefix.evaluated, most, CommonPrefix(prefix.tokens, wanted.tokens)});
  return found == 0 || options_.recurrent || device_.CanCut(prefix, found) ? found : 0;
}

size_t StateCache::Expect(const Wanted& wanted) const {
  size_t best = outer_.Expect(wanted);
  for (const Prefix& prefix : device_.prefixes()) {
    // A task that shares a prefix which is being evaluated waits for it and evaluates nothing.
    const size_t found = prefix.Is(wanted) ? wanted.tokens.size() : Resident(prefix, wanted, best);
    best = std::max(best, found);
  }
  return best;
}

StateCache::Found StateCache::Pin(const Wanted& wanted, size_t spare, double token_seconds,
                                  size_t step) {
  const size_t idle = step >= options_.busy_step ? options_.busy_cells : options_.idle_cells;
  const size_t count = wanted.tokens.size();
  Prefix* source = nullptr;
  size_t resident = 0;
  size_t own = 0;  // rule 7: the most that a prefix of the same scope has
  size_t promised = 0;
  for (Prefix& prefix : device_.prefixes()) {
    if (prefix.Is(wanted)) {
      // A sequence that one more pinned prefix holds would be lacking for questions.
      if (prefix.pins == 0 && device_.Pinned() >= options_.max_pinned) return {};
      const size_t missing = prefix.pins > 0 ? 0 : prefix.missing();  // else reserved already
      const Hold hold(&prefix);
      if (!device_.MakeRoom(missing + spare)) return {};
      device_.Touch(prefix);
      return {.prefix = Take(&prefix), .tier = Tier::kDevice};
    }
    if (prefix.pins > 0 && prefix.missing() > 0) {
      const size_t most = wanted.Sharable(prefix.scope, prefix.template_tokens);
      promised = std::max(promised, reuse_.Tokens(prefix.tokens, wanted.tokens, promised, most));
    }
    const bool same_scope = prefix.scope == wanted.scope;
    const size_t found = Resident(prefix, wanted, same_scope ? own : resident);
    if (same_scope) own = std::max(own, found);
    if (found <= resident) continue;
    if (found <= kWorthMoving && device_.IsHigh(prefix, found)) continue;
    source = &prefix;
    resident = found;
  }
  if (promised > resident + kWorthWaiting && promised > outer_.Expect(wanted) + kWorthWaiting) {
    return {.wait = true};
  }
  if (device_.Pinned() >= options_.max_pinned) return {};
  // Before anything is read, copied or evicted for it.
  if (!device_.CanBranch(source, resident, count - resident + spare)) return {};

  const OuterTiers::Match outer = outer_.Find(wanted, resident, token_seconds);
  if (outer.pending) return {.wait = true};
  if (outer.state) {
    if (options_.grid > 0) {
      device_.EvictAll();  // rule 5
      source = nullptr;
      resident = 0;
    }
    Pinned restored = [&] {
      const Hold hold(source);  // in case that it is still needed
      return Take(Restore(outer, wanted, spare));
    }();
    if (restored) {
      TrimIdle(idle);
      return {.prefix = std::move(restored), .tier = outer.tier};
    }
  }
  // An idle prefix that this one goes on from would find nothing that this one does not.
  const bool goes_on = source != nullptr && source->pins == 0 && !options_.recurrent &&
                       resident == source->evaluated;
  const bool only_one = source != nullptr && options_.grid > 0;
  const size_t known = resident > own ? std::max(own, outer_.Expect(wanted)) : own;
  Found found{.tier = resident > 0 ? Tier::kDevice : Tier::kNone,
              .foreign = resident - std::min(resident, known)};
  if (goes_on || only_one) {
    found.prefix = Take(Extend(*source, wanted, resident, spare));
  } else {
    if (options_.grid > 0) device_.EvictAll();
    found.prefix = Take(device_.Branch(source, wanted, resident, count - resident + spare));
  }
  if (found.prefix) TrimIdle(idle);
  return found;
}

// Pins it for a request.
Pinned StateCache::Take(Prefix* prefix) {
  if (prefix == nullptr) return Pinned(nullptr, Unpinning{this});
  ++prefix->pins;
  ++prefix->requests;
  return Pinned(prefix, Unpinning{this});
}

// Makes an idle prefix' first `length` tokens the beginning of another one.
Prefix* StateCache::Extend(Prefix& prefix, const Wanted& wanted, size_t length, size_t spare) {
  device_.FreeForks(prefix);
  if (length < prefix.evaluated) {
    Save(prefix);
    device_.Cut(prefix, length);
    prefix.tokens.resize(length);
  }
  const Hold hold(&prefix);  // not to be evicted for itself
  if (!device_.MakeRoom(wanted.tokens.size() - length + spare)) return nullptr;
  prefix.Become(wanted);
  prefix.requests = 0;
  device_.Touch(prefix);
  return &prefix;
}

// Null if there is no room, or llama.cpp does not take the state.
Prefix* StateCache::Restore(const OuterTiers::Match& match, const Wanted& wanted, size_t spare) {
  const SavedState& state = *match.state;
  // The whole state comes back before it can be cut.
  if (!device_.MakeRoom(std::max(state.tokens.size(), wanted.tokens.size()) + spare)) {
    return nullptr;
  }
  TakenSequence sequence = device_.TakeSequence();
  if (!sequence) return nullptr;
  const bool cut = match.tokens < state.tokens.size();
  Sequences& sequences = device_.sequences();
  const size_t end = PositionAt(wanted.tokens, match.tokens);
  if (!memory_.Load(sequence.id(), state.data.get(), state.size) ||
      !sequences.Holds(sequence.id(), end)) {
    outer_.Refuse(match);  // it would be refused again
    return nullptr;
  }
  if (cut) sequences.Cut(sequence.id(), end);
  Prefix& prefix = device_.Add(wanted, std::move(sequence));
  device_.Grow(prefix, match.tokens);
  if (state.proved) prefix.proved = match.tokens;
  outer_.Taken(match);
  return &prefix;
}

void StateCache::Unpin(Prefix& prefix) noexcept {
  if (--prefix.pins > 0) return;
  if (prefix.missing() > 0) {
    // Cancelled while it was evaluated: the evaluated part is the prefix now, unless another one is
    // the same.
    prefix.tokens.resize(prefix.evaluated);
    const auto& all = device_.prefixes();
    const bool same = std::any_of(all.begin(), all.end(), [&](const Prefix& entry) {
      return &entry != &prefix && entry.scope == prefix.scope && entry.tokens == prefix.tokens;
    });
    if (same || prefix.tokens.empty() || options_.grid > 0) return device_.Evict(prefix);
  }
  TrimIdle(options_.idle_cells);
}

void StateCache::TrimIdle(size_t cells) {
  while (device_.IdleCells() > cells && device_.EvictOne()) {
  }
}

// Without memory for it, the state goes unsaved: it can be evaluated again.
void StateCache::Save(const Prefix& prefix) noexcept {
  try {
    TrySave(prefix);
  } catch (const std::bad_alloc&) {
  }
}

void StateCache::TrySave(const Prefix& prefix) {
  if (!Saves(prefix) || prefix.evaluated < kWorthSaving) return;
  const bool proved = prefix.proved >= prefix.evaluated;
  const Wanted known{prefix.tokens, prefix.scope, 0};
  if (!outer_.Wants(known, 1, proved)) return;  // before its size is counted
  const size_t size = memory_.Bytes(prefix.sequence);
  auto state = std::make_shared<SavedState>();
  state->scope = prefix.scope;
  state->tokens = prefix.tokens;
  state->size = size;
  state->proved = proved;
  if (!outer_.Wants(known, state->bytes(), proved)) return;
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
  stats.device_cells_idle = device_.IdleCells();
  stats.device_prefixes = device_.prefixes().size();
  outer_.AddTo(stats);
  return stats;
}

}  // namespace oi
