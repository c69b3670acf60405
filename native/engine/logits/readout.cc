#include "readout.h"

#include <algorithm>
#include <thread>

#include "../error.h"
#include "../finite.h"
#include "llama.h"
#include "log_sum_exp.h"

namespace oi {
namespace {

// A row of 150,000 entries takes some 50 µs, and beginning a thread as long as one or two.
constexpr size_t kRowsPerThread = 8;

}  // namespace

void Readout::Read(const std::vector<ScoringTask*>& tasks) {
  asked_.clear();
  for (ScoringTask* task : tasks) {
    for (size_t i = 0; i < task->runs().size(); ++i) {
      const int32_t row = task->runs()[i].row;
      if (row >= 0) asked_.push_back({task, i, Row(row)});
    }
  }
  rows_read_ += asked_.size();
  const size_t parts = std::clamp<size_t>(asked_.size() / kRowsPerThread, 1, threads_);
  const auto read = [&](size_t part) {
    for (size_t i = part; i < asked_.size(); i += parts) ReadRow(asked_[i]);
  };
  {
    std::vector<std::jthread> others;
    for (size_t part = 1; part < parts; ++part) others.emplace_back(read, part);
    read(0);
  }
  for (const Asked& asked : asked_) {
    if (!asked.finite) asked.task->Refuse(asked.run);
  }
}

bool Readout::PlainIsFinite(int32_t row) const {
  return 2 * CountFinite(Row(row), vocabulary_size_) > vocabulary_size_;
}

const float* Readout::Row(int32_t row) const {
  const float* const logits = llama_get_logits_ith(context_.get(), row);
  if (logits == nullptr) throw EngineError("ERR_ENGINE_INTERNAL", "llama.cpp gave no logits");
  return logits;
}

void Readout::ReadRow(Asked& asked) const {
  const ScoringTask::Run& run = asked.task->runs()[asked.run];
  const std::vector<Token>& candidates = asked.task->question(run).candidates;
  const float* const logits = asked.row;
  float* out = asked.task->LogitsOf(run);
  bool finite = true;
  float likeliest = logits[candidates.front()];
  for (const Token candidate : candidates) {
    finite = finite && IsFinite(logits[candidate]);
    likeliest = std::max(likeliest, logits[candidate]);
    *out++ = logits[candidate];
  }
  int32_t rank = 0;
  for (size_t i = 0; i < vocabulary_size_; ++i) rank += logits[i] > likeliest ? 1 : 0;
  asked.task->RankOf(run) = rank;
  *out = static_cast<float>(LogSumExp(logits, vocabulary_size_));
  asked.finite = finite && IsFinite(*out);
}

}  // namespace oi
