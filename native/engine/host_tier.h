// Prefixes that left the context, kept in RAM under a byte budget. The least recently used goes
// first, to the disk tier if there is one.

#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "saved_state.h"

namespace oi {

class HostTier {
 public:
  using State = std::shared_ptr<const SavedState>;
  using Evicted = std::function<void(State)>;

  HostTier(uint64_t limit, Reuse reuse, Evicted evicted)
      : limit_(limit), reuse_(reuse), evicted_(std::move(evicted)) {}

  // What saves the most tokens of `wanted`, and how many; null and 0 if nothing does.
  struct Match {
    State state;
    size_t tokens = 0;
  };
  Match Find(const std::vector<Token>& wanted) const {
    Match best;
    for (const State& state : states_) {
      const size_t tokens = reuse_.Tokens(state->tokens, wanted, best.tokens);
      if (tokens > best.tokens) best = {state, tokens};
    }
    return best;
  }

  bool Holds(const std::vector<Token>& tokens) const {
    return std::any_of(states_.begin(), states_.end(),
                       [&](const State& state) { return state->tokens == tokens; });
  }

  void Touch(const State& state) {
    const auto it = std::find(states_.begin(), states_.end(), state);
    if (it != states_.end()) states_.splice(states_.begin(), states_, it);
  }

  // True if a state of so many bytes would be kept at all.
  bool Fits(uint64_t bytes) const { return bytes <= limit_; }

  void Put(State state) {
    if (!Fits(state->bytes())) return;
    bytes_ += state->bytes();
    states_.push_front(std::move(state));
    while (bytes_ > limit_) EvictLast();
  }

  // Everything, the oldest first, to whoever takes what is evicted.
  void Flush() {
    while (!states_.empty()) EvictLast();
  }

  uint64_t bytes() const { return bytes_; }
  uint64_t limit() const { return limit_; }
  size_t size() const { return states_.size(); }

 private:
  void EvictLast() {
    State state = std::move(states_.back());
    states_.pop_back();
    bytes_ -= state->bytes();
    evicted_(std::move(state));
  }

  const uint64_t limit_;
  const Reuse reuse_;
  const Evicted evicted_;
  std::list<State> states_;  // the most recently used first
  uint64_t bytes_ = 0;
};

}  // namespace oi
