// Prefixes that left the context, kept in RAM under a byte budget. The least recently used goes
// first, to the disk tier if there is one.

#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <memory>

#include "saved_state.h"
#include "state_file.h"

namespace oi {

class HostTier {
 public:
  using State = std::shared_ptr<const SavedState>;
  using Evicted = std::function<void(State, StateTime used)>;

  HostTier(uint64_t limit, Reuse reuse, Evicted evicted)
      : limit_(limit), reuse_(reuse), evicted_(std::move(evicted)) {}

  // The scope's state that saves the most tokens, and how many; null and 0 if none does.
  struct Match {
    State state;
    size_t tokens = 0;
  };
  Match Find(const Wanted& wanted) const {
    Match best;
    for (const Kept& kept : states_) {
      if (kept.state->scope != wanted.scope) continue;
      const size_t tokens = reuse_.Tokens(kept.state->tokens, wanted.tokens, best.tokens);
      if (tokens > best.tokens) best = {kept.state, tokens};
    }
    return best;
  }

  // True if it holds that state, `proved` (state_cache.h, rule 6) if so asked.
  bool Holds(const Wanted& wanted, bool proved) const {
    return std::any_of(states_.begin(), states_.end(), [&](const Kept& kept) {
      return kept.state->proved >= proved && kept.state->Is(wanted);
    });
  }

  void Touch(const State& state) {
    const auto it = std::find_if(states_.begin(), states_.end(),
                                 [&](const Kept& kept) { return kept.state == state; });
    if (it == states_.end()) return;
    it->used = StateTime::clock::now();
    states_.splice(states_.begin(), states_, it);
  }

  // True if a state of so many bytes would be kept at all.
  bool Fits(uint64_t bytes) const { return bytes <= limit_; }

  void Put(State state) {
    if (!Fits(state->bytes())) return;
    const Wanted same{state->tokens, state->scope, 0};
    ForgetIf([&](const SavedState& other) { return other.Is(same); });
    states_.push_front({std::move(state), StateTime::clock::now()});
    bytes_ += states_.front().state->bytes();
    while (bytes_ > limit_) Evict(std::prev(states_.end()));
  }

  template <typename Condition>
  void ForgetIf(Condition condition) {
    states_.remove_if([&](const Kept& kept) {
      const bool forget = condition(*kept.state);
      if (forget) bytes_ -= kept.state->bytes();
      return forget;
    });
  }

  // Everything, the most recently used first, to whoever takes what is evicted.
  void Flush() {
    while (!states_.empty()) Evict(states_.begin());
  }

  uint64_t bytes() const { return bytes_; }
  uint64_t limit() const { return limit_; }
  size_t size() const { return states_.size(); }

 private:
  struct Kept {
    State state;
    StateTime used;
  };

  void Evict(std::list<Kept>::iterator it) {
    Kept kept = std::move(*it);
    states_.erase(it);
    bytes_ -= kept.state->bytes();
    evicted_(std::move(kept.state), kept.used);
  }

  const uint64_t limit_;
  const Reuse reuse_;
  const Evicted evicted_;
  std::list<Kept> states_;  // the most recently used first
  uint64_t bytes_ = 0;
};

}  // namespace oi
