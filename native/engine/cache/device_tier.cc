#include "device_tier.h"

#include <algorithm>
#include <utility>

namespace oi {

Prefix& DeviceTier::Add(const Wanted& wanted, TakenSequence sequence) {
  Prefix made;
  made.Become(wanted);
  made.forks.reserve(sequences_.count());  // what is returned allocates nothing
  Prefix& prefix = prefixes_.emplace_back(std::move(made));
  prefix.sequence = sequence.Keep();
  Touch(prefix);
  return prefix;
}

Prefix* DeviceTier::Branch(Prefix* source, const Wanted& wanted, size_t length, size_t room) {
  const Cells::Chain shared = Share(source, length);
  if (!CanMakeRoom(room, shared)) return nullptr;
  TakenSequence sequence = [&] {
    const Hold hold(source);  // not to be evicted for its own copy's sequence
    return TakeSequence();
  }();
  if (!sequence) return nullptr;
  size_t proved = 0;
  if (source != nullptr) {
    proved = std::min(length, source->proved);
    sequences_.Copy(source->sequence, sequence.id());
    if (length < source->evaluated) sequences_.Cut(sequence.id(), source->Position(length));
    // Of a part that is shared, the new one has the cells.
    if (length == source->evaluated) Touch(*source);
  }
  MakeRoom(room, shared);  // the source may go for it
  Prefix& prefix = Add(wanted, std::move(sequence));
  prefix.evaluated = length;
  prefix.proved = proved;
  prefix.cells = shared;
  return &prefix;
}

void DeviceTier::Grow(Prefix& prefix, size_t count) {
  cells_.Grow(prefix.cells, count);
  prefix.evaluated += count;
}

void DeviceTier::Cut(Prefix& prefix, size_t length) {
  sequences_.Cut(prefix.sequence, prefix.Position(length));
  prefix.cells = cells_.Share(prefix.cells, length);
  prefix.evaluated = length;
  prefix.proved = std::min(length, prefix.proved);
}

// ---- forks -----------------------------------------------------------------------

llama_seq_id DeviceTier::Fork(Prefix& prefix) {
  if (!prefix.forks.empty()) {
    const llama_seq_id fork = prefix.forks.back();
    prefix.forks.pop_back();
    return fork;
  }
  const llama_seq_id fork = TakeSequence().Keep();
  if (fork != Sequences::kNone && prefix.evaluated > 0) sequences_.Copy(prefix.sequence, fork);
  return fork;
}

void DeviceTier::Return(Prefix& prefix, llama_seq_id fork, size_t suffix) noexcept {
  // Of use again if it still holds all of the prefix, and can be made to hold nothing else.
  if (!forks_last_ || prefix.missing() > 0) return sequences_.Free(fork);
  const size_t end = prefix.Position(prefix.evaluated);
  // A question longer than a sliding window has pushed the prefix' end out of it.
  if (!sequences_.Holds(fork, end)) return sequences_.Free(fork);
  if (suffix > 0) sequences_.Cut(fork, end);
  prefix.forks.push_back(fork);
}

void DeviceTier::FreeForks(Prefix& prefix) noexcept {
  for (const llama_seq_id fork : prefix.forks) sequences_.Free(fork);
  prefix.forks.clear();
}

TakenSequence DeviceTier::TakeSequence() {
  for (;;) {
    TakenSequence sequence(sequences_, sequences_.Take());
    if (sequence) return sequence;
    Prefix* oldest = nullptr;
    for (Prefix& prefix : prefixes_) {
      if (prefix.forks.empty()) continue;
      if (oldest == nullptr || prefix.used < oldest->used) oldest = &prefix;
    }
    if (oldest != nullptr) {
      FreeForks(*oldest);
    } else if (!EvictOne()) {
      return sequence;
    }
  }
}

// ---- room ------------------------------------------------------------------------

bool DeviceTier::CanMakeRoom(size_t cells, const Cells::Chain& kept) const {
  return cells_.used() + cells <= cells_.total() || KeptCells(kept) + cells <= cells_.total();
}

bool DeviceTier::MakeRoom(size_t cells, const Cells::Chain& kept) {
  if (!CanMakeRoom(cells, kept)) return false;
  while (cells_.used() + cells > cells_.total()) {
    if (!EvictOne()) return false;
  }
  return true;
}

bool DeviceTier::EvictOne() noexcept {
  Prefix* oldest = nullptr;
  for (Prefix& prefix : prefixes_) {
    if (prefix.pins > 0) continue;
    if (oldest == nullptr || prefix.used < oldest->used) oldest = &prefix;
  }
  if (oldest == nullptr) return false;
  leaving_(*oldest);
  Evict(*oldest);
  return true;
}

void DeviceTier::EvictAll() {
  while (EvictOne()) {
  }
}

void DeviceTier::Evict(Prefix& prefix) noexcept {
  FreeForks(prefix);
  sequences_.Free(prefix.sequence);
  prefixes_.remove_if([&](const Prefix& entry) { return &entry == &prefix; });
}

void DeviceTier::Clear(bool data) {
  prefixes_.clear();
  sequences_.Clear(data);
}

size_t DeviceTier::Pinned() const {
  return static_cast<size_t>(std::count_if(prefixes_.begin(), prefixes_.end(),
                                           [](const Prefix& prefix) { return prefix.pins > 0; }));
}

size_t DeviceTier::KeptCells(const Cells::Chain& chain) const {
  Cells::Count count(cells_);
  count.Add(chain);
  for (const Prefix& prefix : prefixes_) {
    if (prefix.pins > 0) count.Add(prefix.cells);
  }
  return count.sum();
}

}  // namespace oi
