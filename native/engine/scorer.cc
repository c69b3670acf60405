#include "scorer.h"

#include <algorithm>
#include <string>

#include "error.h"
#include "llama.h"
#include "log.h"
#include "log_sum_exp.h"
#include "model.h"

namespace oi {
namespace {

constexpr llama_seq_id kResident = 0;
constexpr size_t kWarmUpTokens = 64;

size_t CommonPrefix(const std::vector<Token>& a, const std::vector<Token>& b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(n), b.begin()).first - a.begin());
}

}  // namespace

Scorer::Scorer(const Model& model, const EngineOptions& options, uint32_t default_threads)
    : model_(model),
      plan_(PlanContext(model, options, default_threads)),
      recurrent_(model.recurrent()),
      vocabulary_size_(static_cast<size_t>(llama_vocab_n_tokens(model.vocab()))),
      context_(MakeContext(model, options, plan_, &Scorer::OnAbort, this)),
      batch_(plan_.batch_tokens) {}

Scorer::~Scorer() { FreeContext(context_); }

bool Scorer::OnAbort(void* self) {
  const Cancelled* cancelled = static_cast<Scorer*>(self)->cancelled_;
  return cancelled != nullptr && (*cancelled)();
}

void Scorer::WarmUp() {
  const size_t count = std::min<size_t>(kWarmUpTokens, plan_.batch_tokens);
  batch_.Clear();
  for (size_t i = 0; i < count; ++i) batch_.Add(0, i, kResident, i + 1 == count);
  Decode();
  llama_synchronize(context_.context);
  llama_memory_clear(llama_get_memory(context_.context), false);
}

ScoreResult Scorer::Score(const TokenizedRequest& request, const Cancelled& cancelled) {
  ScoreResult result;
  Work work;
  size_t floats = 0;
  result.prefix_tokens = request.prefix.size();
  for (size_t i = 0; i < request.questions.size(); ++i) {
    const TokenizedQuestion& question = request.questions[i];
    result.suffix_tokens += question.tokens.size();
    if (question.candidates.empty()) continue;
    work.question.push_back(i);
    work.offset.push_back(floats);
    floats += question.candidates.size() + 1;
  }
  Check(request);
  if (work.question.empty()) return result;
  result.logits.resize(floats);

  cancelled_ = &cancelled;
  try {
    result.cached_tokens = Keep(request.prefix);
    EvaluateAlone(request.prefix);
    EvaluateQuestions(request, work, result.logits);
    DropForks();
  } catch (...) {
    cancelled_ = nullptr;
    Recover();
    throw;
  }
  cancelled_ = nullptr;
  return result;
}

// Rule 6.
void Scorer::Check(const TokenizedRequest& request) const {
  const auto outside = [this](Token token) {
    return token < 0 || static_cast<size_t>(token) >= vocabulary_size_;
  };
  if (std::any_of(request.prefix.begin(), request.prefix.end(), outside)) {
    throw EngineError("ERR_INVALID_ARGUMENT", "a prefix token is outside the vocabulary");
  }
  size_t longest = 0;
  for (const TokenizedQuestion& question : request.questions) {
    if (question.tokens.empty()) {
      throw EngineError("ERR_INVALID_ARGUMENT", "a question has no tokens");
    }
    if (std::any_of(question.tokens.begin(), question.tokens.end(), outside) ||
        std::any_of(question.candidates.begin(), question.candidates.end(), outside)) {
      throw EngineError("ERR_INVALID_ARGUMENT", "a question's token is outside the vocabulary");
    }
    longest = std::max(longest, question.tokens.size());
  }
  const size_t needed = request.prefix.size() + longest;
  const size_t limit = plan_.context_tokens;
  if (needed > limit) {
    throw EngineError("ERR_STATE_TOO_LONG",
                      "state and longest question take " + std::to_string(needed) + " tokens (" +
                          std::to_string(request.prefix.size()) + " and " +
                          std::to_string(longest) + "), the limit is " + std::to_string(limit));
  }
}

// Cuts the resident prefix down to what it has in common with `prefix`; returns its length.
size_t Scorer::Keep(const std::vector<Token>& prefix) {
  size_t kept = CommonPrefix(resident_, prefix);
  if (recurrent_ && kept < resident_.size()) kept = 0;  // rule 4
  if (kept < resident_.size()) {
    llama_memory_seq_rm(llama_get_memory(context_.context), kResident, static_cast<llama_pos>(kept),
                        -1);
    resident_.resize(kept);
  }
  return kept;
}

// Rule 3.
void Scorer::EvaluateAlone(const std::vector<Token>& prefix) {
  const size_t missing = prefix.size() - resident_.size();
  size_t left = recurrent_ ? missing : missing - missing % plan_.microbatch_tokens;
  while (left > 0) {
    const size_t begin = resident_.size();
    const size_t count = std::min<size_t>(left, plan_.batch_tokens);
    batch_.Clear();
    for (size_t i = begin; i < begin + count; ++i) batch_.Add(prefix[i], i, kResident, false);
    Decode();
    resident_.insert(resident_.end(), prefix.begin() + static_cast<ptrdiff_t>(begin),
                     prefix.begin() + static_cast<ptrdiff_t>(begin + count));
    left -= count;
  }
}

// Questions [begin, result) fit into the forks and cells that there are. At least one does.
size_t Scorer::WaveEnd(const TokenizedRequest& request, const Work& work, size_t begin) const {
  size_t cells = plan_.context_tokens - request.prefix.size();
  size_t end = begin;
  while (end < work.question.size() && end - begin < plan_.max_forks) {
    const size_t tokens = request.questions[work.question[end]].tokens.size();
    if (tokens > cells) break;
    cells -= tokens;
    ++end;
  }
  return end;
}

void Scorer::EvaluateQuestions(const TokenizedRequest& request, const Work& work,
                               std::vector<float>& logits) {
  llama_memory_t memory = llama_get_memory(context_.context);
  const size_t prefix = request.prefix.size();
  size_t forks = 0;  // sequences 1 to forks hold the prefix
  struct Output {
    size_t item;
    int32_t row;
  };
  std::vector<Output> outputs;
  const auto flush = [&] {
    if (batch_.size() == 0) return;
    DecodeFilled();
    for (const Output& output : outputs) {
      ReadLogits(request.questions[work.question[output.item]], output.row,
                 logits.data() + work.offset[output.item]);
    }
    outputs.clear();
    batch_.Clear();
  };

  batch_.Clear();
  for (size_t begin = 0; begin < work.question.size();) {
    const size_t end = WaveEnd(request, work, begin);
    for (; forks < end - begin; ++forks) {
      llama_memory_seq_cp(memory, kResident, static_cast<llama_seq_id>(forks + 1), -1, -1);
    }
    // The end of the prefix, with the first wave only. It counts as resident when all is well.
    for (size_t i = resident_.size(); begin == 0 && i < prefix; ++i) {
      batch_.AddShared(request.prefix[i], i, forks + 1);
    }
    for (size_t item = begin; item < end; ++item) {
      const auto sequence = static_cast<llama_seq_id>(item - begin + 1);
      const std::vector<Token>& tokens = request.questions[work.question[item]].tokens;
      for (size_t i = 0; i < tokens.size(); ++i) {
        const bool last = i + 1 == tokens.size();
        if (last) outputs.push_back({item, static_cast<int32_t>(batch_.size())});
        batch_.Add(tokens[i], prefix + i, sequence, last);
        if (batch_.size() == plan_.batch_tokens) flush();
      }
    }
    flush();
    resident_ = request.prefix;
    if (end < work.question.size()) {
      if (recurrent_) {
        DropForks();
        forks = 0;
      } else {
        // Leaves the prefix in every fork: the copies are made once for all waves.
        llama_memory_seq_rm(memory, -1, static_cast<llama_pos>(prefix), -1);
      }
    }
    begin = end;
  }
}

void Scorer::ReadLogits(const TokenizedQuestion& question, int32_t row, float* out) const {
  const float* logits = llama_get_logits_ith(context_.context, row);
  if (logits == nullptr) throw EngineError("ERR_ENGINE_INTERNAL", "llama.cpp gave no logits");
  for (const Token candidate : question.candidates) *out++ = logits[candidate];
  *out = static_cast<float>(LogSumExp(logits, vocabulary_size_));
}

void Scorer::Decode() {
  if (OnAbort(this)) throw EngineError("ERR_ABORTED", "the request was cancelled");
  ClearLog();
  const int32_t status = llama_decode(context_.context, batch_.View());
  if (status == 0) return;
  if (status == 2) throw EngineError("ERR_ABORTED", "the request was cancelled");
  throw EngineError("ERR_ENGINE_INTERNAL", "llama_decode failed with " + std::to_string(status) +
                                               ": " + FirstLoggedError());
}

// Rule 5.
void Scorer::DecodeFilled() {
  const size_t last = batch_.size() % plan_.microbatch_tokens;
  if (last == 0 || last >= plan_.min_rows) return Decode();
  const auto filler = static_cast<llama_seq_id>(plan_.max_forks + 1);
  for (size_t i = 0; i < plan_.min_rows - last; ++i) batch_.Add(0, i, filler, false);
  Decode();
  llama_memory_seq_rm(llama_get_memory(context_.context), filler, -1, -1);
}

void Scorer::DropForks() {
  llama_memory_t memory = llama_get_memory(context_.context);
  llama_memory_seq_keep(memory, kResident);
}

// After a decode that did not finish. Cells hold what was evaluated before it; but a recurrent
// state may have been moved in the books and not in memory, so it is not trusted.
void Scorer::Recover() {
  llama_memory_t memory = llama_get_memory(context_.context);
  llama_synchronize(context_.context);
  if (recurrent_) {
    llama_memory_clear(memory, false);
    resident_.clear();
    return;
  }
  DropForks();
  llama_memory_seq_rm(memory, kResident, static_cast<llama_pos>(resident_.size()), -1);
}

}  // namespace oi
