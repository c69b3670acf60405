// What travels through the pipeline: one call from JavaScript, without JavaScript.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../engine/clock.h"
#include "../engine/error.h"
#include "../engine/task.h"
#include "../engine/types.h"

namespace oi {

// A deadline further away is none: 31 years, which every clock can count.
constexpr double kLongestMs = 1e12;

struct Job {
  enum class Kind { kOpen, kScore, kTokenize, kClose };

  Job(Kind kind, uint32_t id) : kind(kind), id(id) {}
  virtual ~Job() = default;

  const Kind kind;
  const uint32_t id;  // names the job in Cancel(); unique among those in flight
  std::atomic<bool> cancelled{false};

  ScoreRequest request;  // kScore
  uint32_t workspace = 0;
  Clock::time_point deadline = Clock::time_point::max();
  std::vector<TextPart> texts;  // kTokenize: each one on its own
  bool count_only = false;      // kTokenize: lengths instead of tokens

  TokenizedRequest tokenized;              // kScore, after the first stage
  size_t flights = 0;                      // kScore: steps with it that are not collected
  std::unique_ptr<Task> task;              // kScore, in the second; its result stays
  std::vector<std::vector<Token>> tokens;  // kTokenize
  std::vector<uint32_t> counts;            // kTokenize with count_only
  ModelFacts facts;                        // kOpen

  // What the pipeline counts for it in its backlog. Guarded by its Counters (counters.h).
  size_t text_bytes = 0;
  size_t waiting_bytes = 0;  // of those: not tokenized
  bool in_backlog = false;
  double backlog_tokens = 0;
  double backlog_ms = 0;

  const Clock::time_point accepted = Clock::now();
  double queue_ms = 0;
  double tokenize_ms = 0;
  double model_ms = 0;   // of the steps that it was in
  double vision_ms = 0;  // of those: encoding of its images

  const char* error_code = nullptr;  // literal from src/errors.ts; null if all went well
  std::string error_message;
  int32_t error_question = kNoQuestion;

  // Without memory for the message, the code alone.
  void SetError(const char* code, std::string_view message,
                int32_t question = kNoQuestion) noexcept {
    error_code = code;
    error_question = question;
    try {
      error_message = message;
    } catch (const std::bad_alloc&) {
      error_message.clear();
    }
  }

  // From now, more or less; above kLongestMs: none.
  void SetDeadline(double ms) {
    if (!(ms < kLongestMs)) return;
    const std::chrono::duration<double, std::milli> time(std::max(0.0, ms));
    deadline = accepted + std::chrono::duration_cast<Clock::duration>(time);
  }

  // True if nobody waits for it any more.
  bool abandoned() const {
    return cancelled.load(std::memory_order_relaxed) || Clock::now() >= deadline;
  }

  // The same, and then the job has its error.
  bool EndIfAbandoned() {
    if (cancelled.load(std::memory_order_relaxed)) {
      SetError("ERR_ABORTED", "the request was cancelled");
    } else if (Clock::now() >= deadline) {
      SetError("ERR_TIMEOUT", "the request was not answered in its time");
    }
    return error_code != nullptr;
  }
};

}  // namespace oi
