#include "cell_order.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace oi::kernels {
namespace {

using Ranks = std::vector<int64_t>;

// What the tokens of a range see.
struct Seen {
  const Ranks* ranks = nullptr;
  uint64_t number = 0;  // of the graph
  const uint8_t* shape_mask = nullptr;
  TokenRange range;
  std::vector<int32_t> cells;
  bool in_place = false;       // they follow one another as they lie
  std::vector<uint16_t> mask;  // [tokens of the range][cells], unless they are in place
};

// Collects cells so that each token sees its own in the order of their ranks: those that the first
// token sees, then those that the second one sees first, and so on. What tokens of one sequence
// see lies together then. If windows slide and that is no order of all tokens, the order of ranks
// is.
class Collector {
 public:
  Collector(const AttentionKernel& kernel, const AttentionShape& shape, const Ranks& ranks)
      : kernel_(kernel),
        shape_(shape),
        ranks_(ranks),
        now_((shape.cells + 31) / 32, 0),
        known_(now_.size(), 0) {}

  std::vector<int32_t> Collect(TokenRange range) {
    bool ordered = true;
    for (int64_t token = range.begin; token < range.end; ++token) ordered &= AddToken(token);
    if (!ordered) Sort(cells_.begin());
    return std::move(cells_);
  }

 private:
  bool Before(int32_t a, int32_t b) const {
    return ranks_[a] != ranks_[b] ? ranks_[a] < ranks_[b] : a < b;
  }

  void Sort(std::vector<int32_t>::iterator begin) {
    const auto before = [this](int32_t a, int32_t b) { return Before(a, b); };
    if (!std::is_sorted(begin, cells_.end(), before)) std::sort(begin, cells_.end(), before);
  }

  // Whether all that it sees is in order.
  bool AddToken(int64_t token) {
    const uint8_t* line = shape_.mask + token * shape_.mask_token_stride;
    kernel_.look(line, shape_.cells, now_.data());
    const size_t before = cells_.size();
    for (size_t word = 0; word < now_.size(); ++word) {
      uint32_t added = now_[word] & ~known_[word];
      known_[word] |= added;
      for (; added != 0; added &= added - 1) {
        cells_.push_back(static_cast<int32_t>(word * 32 + std::countr_zero(added)));
      }
    }
    if (cells_.size() == before) return true;
    Sort(cells_.begin() + static_cast<std::ptrdiff_t>(before));
    const int32_t first = cells_[before];
    const bool follows = before == 0 || Before(last_, first);
    if (before == 0 || Before(last_, cells_.back())) last_ = cells_.back();
    if (follows) return true;
    // Others' cells may come later in their sequences.
    return std::all_of(cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(before),
                       [&](int32_t cell) {
                         const bool sees = (now_[cell / 32] >> (cell % 32) & 1) != 0;
                         return !sees || Before(cell, first);
                       });
  }

  const AttentionKernel& kernel_;
  const AttentionShape& shape_;
  const Ranks& ranks_;
  std::vector<uint32_t> now_;    // bits of the cells that a token sees
  std::vector<uint32_t> known_;  // and that any token saw
  std::vector<int32_t> cells_;
  int32_t last_ = 0;  // in the order of ranks
};

bool FollowOneAnother(const std::vector<int32_t>& cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] != cells[0] + static_cast<int32_t>(i)) return false;
  }
  return true;
}

std::vector<uint16_t> MaskOf(const AttentionShape& shape, TokenRange range,
                             const std::vector<int32_t>& cells) {
  std::vector<uint16_t> mask;
  mask.reserve(cells.size() * static_cast<size_t>(range.end - range.begin));
  for (int64_t token = range.begin; token < range.end; ++token) {
    const auto* line =
        reinterpret_cast<const uint16_t*>(shape.mask + token * shape.mask_token_stride);
    for (const int32_t cell : cells) mask.push_back(line[cell]);
  }
  return mask;
}

// All layers of a graph see the same: kept for the next ones, unless it is large.
const Seen& Find(uint64_t number, const AttentionKernel& kernel, const AttentionShape& shape,
                 const Ranks& ranks, TokenRange range) {
  constexpr size_t kMostBytes = 16 << 20;
  thread_local std::vector<Seen> all;
  size_t bytes = 0;
  for (const Seen& seen : all) {
    if (seen.number == number && seen.shape_mask == shape.mask && seen.range.begin == range.begin &&
        seen.range.end == range.end) {
      return seen;
    }
    bytes += seen.cells.size() * sizeof(int32_t) + seen.mask.size() * sizeof(uint16_t);
  }
  if (bytes > kMostBytes) all.clear();
  std::erase_if(all,
                [&](const Seen& seen) { return seen.ranks == &ranks && seen.number != number; });
  Seen& seen = all.emplace_back();
  seen.ranks = &ranks;
  seen.number = number;
  seen.shape_mask = shape.mask;
  seen.range = range;
  seen.cells = Collector(kernel, shape, ranks).Collect(range);
  seen.in_place = FollowOneAnother(seen.cells);
  if (!seen.in_place) seen.mask = MaskOf(shape, range, seen.cells);
  return seen;
}

}  // namespace

bool OrderedCells::Update(const AttentionShape& shape) {
  static std::atomic<uint64_t> graphs = 0;
  now_ = nullptr;
  const int number = order_ == nullptr || shape.mask == nullptr ? -1 : order_->Find(shape.keys);
  if (number < 0) return order_ == nullptr || shape.mask == nullptr;
  if (caches_.size() <= static_cast<size_t>(number)) caches_.resize(number + 1);
  Cache& cache = caches_[number];
  if (cache.first_keys == nullptr || cache.first_keys == shape.keys) {
    cache.first_keys = shape.keys;
    cache.number = ++graphs;
    cache.ranks.resize(shape.cells);
    order_->Read(number, shape.cells, cache.ranks.data());
  }
  now_ = &cache;
  return true;
}

AttentionShape OrderedCells::SeenBy(const AttentionKernel& kernel, const AttentionShape& shape,
                                    int threads, int64_t task) const {
  if (now_ == nullptr) return shape;
  const TokenRange range = kernel.tokens(shape, threads, task);
  const Seen& seen = Find(now_->number, kernel, shape, now_->ranks, range);
  AttentionShape own = shape;
  own.cells = static_cast<int64_t>(seen.cells.size());
  if (own.cells == 0) return own;
  if (seen.in_place) {
    const auto first = static_cast<size_t>(seen.cells[0]);
    own.keys += first * shape.key_cell_stride;
    own.values += first * shape.value_cell_stride;
    own.mask += first * sizeof(uint16_t);
  } else {
    own.mask = reinterpret_cast<const uint8_t*>(seen.mask.data());
    own.mask_token_stride = seen.cells.size() * sizeof(uint16_t);
    own.mask_begin = range.begin;
    own.order = seen.cells.data();
  }
  return own;
}

}  // namespace oi::kernels
