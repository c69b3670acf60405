// What travels through the pipeline: one call from JavaScript, without JavaScript.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "../engine/types.h"

namespace oi {

struct Job {
  enum class Kind { kOpen, kScore, kTokenize, kClose };
  using Clock = std::chrono::steady_clock;

  Job(Kind kind, uint32_t id) : kind(kind), id(id) {}
  virtual ~Job() = default;

  const Kind kind;
  const uint32_t id;  // names the job in Cancel(); unique among those in flight
  std::atomic<bool> cancelled{false};

  ScoreRequest request;         // kScore
  std::vector<TextPart> texts;  // kTokenize: each one on its own
  bool count_only = false;      // kTokenize: lengths instead of tokens

  TokenizedRequest tokenized;              // kScore, after the first stage
  ScoreResult result;                      // kScore
  std::vector<std::vector<Token>> tokens;  // kTokenize
  std::vector<uint32_t> counts;            // kTokenize with count_only
  ModelFacts facts;                        // kOpen

  const Clock::time_point accepted = Clock::now();
  double queue_ms = 0;
  double tokenize_ms = 0;
  double model_ms = 0;

  const char* error_code = nullptr;  // literal from src/errors.ts; null if all went well
  std::string error_message;
};

}  // namespace oi
