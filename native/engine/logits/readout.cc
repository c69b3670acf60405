#include "readout.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "../finite.h"
#include "log_sum_exp.h"

namespace oi {
namespace {

// A row of 150,000 entries takes some 50 µs, and beginning a thread as long as one or two.
constexpr size_t kRowsPerThread = 8;

}  // namespace

void Readout::Read(std::vector<Asked>& asked, const float* rows) {
  rows_read_ += asked.size();
  std::atomic<size_t> next = 0;
  const auto read = [&] {
    for (size_t i; (i = next++) < asked.size();) {
      asked[i].finite = ReadRow(asked[i], rows + asked[i].row * vocabulary_size_);
    }
  };
  std::vector<std::jthread> others;
  const size_t threads = std::clamp<size_t>(asked.size() / kRowsPerThread, 1, threads_);
  try {
    while (others.size() + 1 < threads) others.emplace_back(read);
  } catch (const std::exception&) {  // without more threads, or memory for them
  }
  read();
}

bool Readout::PlainIsFinite(const float* row) const {
  return 2 * CountFinite(row, vocabulary_size_) > vocabulary_size_;
}

bool Readout::ReadRow(const Asked& asked, const float* logits) const {
  const std::vector<Token>& candidates = asked.task->question(asked.item).candidates;
  float* out = asked.task->LogitsOf(asked.item);
  bool finite = true;
  float likeliest = logits[candidates.front()];
  for (const Token candidate : candidates) {
    finite = finite && IsFinite(logits[candidate]);
    likeliest = std::max(likeliest, logits[candidate]);
    *out++ = logits[candidate];
  }
  int32_t rank = 0;
  for (size_t i = 0; i < vocabulary_size_; ++i) rank += logits[i] > likeliest ? 1 : 0;
  asked.task->RankOf(asked.item) = rank;
  *out = static_cast<float>(LogSumExp(logits, vocabulary_size_));
  return finite && IsFinite(*out);
}

}  // namespace oi
