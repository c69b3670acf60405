// Counts the KV cells of a context that hold tokens.
//
// Prefixes that begin alike share cells. A prefix is a chain of spans, each a run of tokens,
// its newest last; prefixes that share a beginning share those spans. So the cells in use are
// the sum of all spans that anybody still holds, and evicting one of two prefixes frees just
// what the other does not need.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace oi {

class Cells {
 public:
  struct Span;
  using Chain = std::shared_ptr<Span>;  // null: no tokens

  struct Span {
    Span(Cells& cells, Chain before, size_t count)
        : cells(cells), before(std::move(before)), count(count) {
      cells.used_ += count;
    }
    ~Span() { cells.used_ -= count; }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

    Cells& cells;
    Chain before;
    size_t count;
    uint64_t counted = 0;  // by the Count of this number
  };

  explicit Cells(size_t total) : total_(total) {}
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;

  size_t total() const { return total_; }
  size_t used() const { return used_; }

  // Appends `count` tokens that no other chain has.
  void Grow(Chain& chain, size_t count) {
    if (count == 0) return;
    if (chain && chain.use_count() == 1) {
      chain->count += count;
      used_ += count;
    } else {
      chain = std::make_shared<Span>(*this, std::move(chain), count);
    }
  }

  // The first `count` tokens of `chain`, shared with it. `count` is at most its length.
  Chain Share(const Chain& chain, size_t count) {
    size_t end = Length(chain);
    for (Chain span = chain; span; span = span->before) {
      if (end <= count) return span;
      const size_t begin = end - span->count;
      if (begin < count) {  // cut the span in two, where it stands: others may hold it too
        const size_t head = count - begin;
        Chain first = std::make_shared<Span>(*this, span->before, head);
        span->count -= head;
        used_ -= head;
        span->before = std::move(first);
        return span->before;
      }
      end = begin;
    }
    return nullptr;
  }

  static size_t Length(const Chain& chain) {
    size_t length = 0;
    for (const Span* span = chain.get(); span != nullptr; span = span->before.get()) {
      length += span->count;
    }
    return length;
  }

  // Counts the cells of several chains, those that they share once. One at a time.
  class Count {
   public:
    explicit Count(const Cells& cells) : number_(++cells.counts_) {}

    void Add(const Chain& chain) {
      for (Span* span = chain.get(); span != nullptr; span = span->before.get()) {
        if (span->counted == number_) return;  // what is before it was counted with it
        span->counted = number_;
        sum_ += span->count;
      }
    }
    size_t sum() const { return sum_; }

   private:
    const uint64_t number_;
    size_t sum_ = 0;
  };

 private:
  const size_t total_;
  size_t used_ = 0;
  mutable uint64_t counts_ = 0;
};

}  // namespace oi
