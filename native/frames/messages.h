// What a front and a runner say to each other, the runner's side: src/runner/PROTOCOL.md.
//
// `open` and `opened`, which are said once, are written in TypeScript (src/runner/messages.ts).

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "../runtime/job.h"

namespace oi {

enum class AskKind : uint32_t {
  kScore = 2,
  kTokenize = 3,
  kCount = 4,
  kCancel = 5,
  kPing = 6,
  kClose = 7,
};

enum class ReplyKind : uint32_t {
  kProgress = 65,
  kResult = 67,
  kTokens = 68,
  kCounted = 69,
  kStats = 70,
  kPong = 71,
  kClosed = 72,
  kFailed = 73,
};

// Fill a job with what is asked. Throw ProtocolError.
void ReadScore(std::span<const uint8_t> payload, Job& job);
void ReadTokenize(std::span<const uint8_t> payload, Job& job);
std::string ReadCount(std::span<const uint8_t> payload);

// Add a frame.
void AddSignal(std::string& out, ReplyKind kind, uint32_t id);
void AddProgress(std::string& out, float fraction);
void AddStats(std::string& out, const EngineStats& stats);
void AddCounted(std::string& out, uint32_t id, size_t count);
void AddRefused(std::string& out, uint32_t id, const char* code, const std::string& message,
                double retry_after_ms);
// Of a job that is done: its result, or why it has none.
void AddReply(std::string& out, const Job& job);

}  // namespace oi
