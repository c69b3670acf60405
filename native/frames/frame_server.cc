#include "frame_server.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "fields.h"
#include "messages.h"

namespace oi {
namespace {

// The receiver's stack bears tokenizing a short text (Pipeline::TryPush). Reserved, not used.
constexpr size_t kStackBytes = 16u << 20;
constexpr std::chrono::milliseconds kStatsTime(100);
// Of a refusal for want of memory; more than it takes.
constexpr size_t kRefusalBytes = 512;

}  // namespace

FrameServer::FrameServer(int fd, Pipeline& pipeline, Options options, Ended ended)
    : pipeline_(pipeline), options_(std::move(options)), ended_(std::move(ended)), connection_(fd) {
  refusal_.reserve(kRefusalBytes);
  teller_ = std::make_unique<Thread>("oi-teller", kStackBytes, [this] {
    while (connection_.Flush(kStatsTime)) TellStats();
  });
  try {
    receiver_ = std::make_unique<Thread>("oi-receiver", kStackBytes, [this] { Receive(); });
  } catch (...) {
    Stop();  // the other would be joined while it waits
    throw;
  }
}

void FrameServer::Stop() {
  connection_.Close();
  receiver_.reset();
  teller_.reset();
}

void FrameServer::Progress(float fraction) {
  std::string out;
  AddProgress(out, fraction);
  connection_.Send(out);
}

void FrameServer::Receive() {
  std::string why;
  try {
    while (const auto frame = connection_.Receive()) {
      try {
        if (frame->dropped) throw std::bad_alloc();
        Take(*frame);
      } catch (const std::bad_alloc&) {
        RefuseForMemory(frame->id);
      }
    }
  } catch (const ProtocolError& error) {
    why = error.what();
  } catch (const std::bad_alloc&) {
    why = "out of memory";
  }
  ended_(std::move(why));
}

void FrameServer::Take(const Frame& frame) {
  const auto ask = [&](Job::Kind kind) { return std::make_unique<Ask>(kind, frame.id, *this); };
  switch (static_cast<AskKind>(frame.kind)) {
    case AskKind::kScore: {
      auto job = ask(Job::Kind::kScore);
      ReadScore(frame.payload, *job);
      RequireHarmless(*job);
      return Push(std::move(job));
    }
    case AskKind::kTokenize: {
      auto job = ask(Job::Kind::kTokenize);
      ReadTokenize(frame.payload, *job);
      return Push(std::move(job));
    }
    case AskKind::kCount:
      return Count(frame.id, ReadCount(frame.payload));
    case AskKind::kCancel:
      return pipeline_.Cancel(frame.id);
    case AskKind::kPing: {
      if (pipeline_.Hangs(options_.least_step_ms)) return;
      std::string out;
      AddSignal(out, ReplyKind::kPong, frame.id);
      return connection_.Send(out);
    }
    case AskKind::kClose:
      return Push(ask(Job::Kind::kClose));
  }
  throw ProtocolError("There is no kind of message " + std::to_string(frame.kind));
}

void FrameServer::Push(std::unique_ptr<Ask> ask) {
  const uint32_t id = ask->id;
  std::unique_ptr<Job> job = std::move(ask);
  Refusal refusal;
  std::string out;
  switch (pipeline_.TryPush(job, refusal, /*tokenize=*/true)) {
    case Pipeline::Push::kAccepted:
      return;
    case Pipeline::Push::kFull:
      AddRefused(out, id, "ERR_OVERLOADED", refusal.message, refusal.retry_after_ms);
      break;
    case Pipeline::Push::kClosing:
      AddRefused(out, id, "ERR_ENGINE_CLOSED", "the engine is closed", 0);
      break;
  }
  Send(out);
}

void FrameServer::Count(uint32_t id, std::string text) {
  if (const auto count = pipeline_.CountNow(text)) {
    std::string out;
    AddCounted(out, id, *count);
    return Send(out);
  }
  auto job = std::make_unique<Ask>(Job::Kind::kTokenize, id, *this);
  job->texts.push_back({std::move(text), false, nullptr});
  job->count_only = true;
  Push(std::move(job));
}

// As llama.cpp's assertions abort a process.
void FrameServer::RequireHarmless(const Job& job) const {
  if (options_.fatal.empty()) return;
  const auto look = [this](const std::vector<TextPart>& parts) {
    for (const TextPart& part : parts) {
      if (part.text.find(options_.fatal) == std::string::npos) continue;
      std::fputs("a fault that a test has planted\n", stderr);
      std::abort();
    }
  };
  look(job.request.prefix);
  for (const Question& question : job.request.questions) look(question.parts);
}

void FrameServer::Answer(const Job& job) noexcept {
  try {
    std::string out;
    AddReply(out, job);
    Send(out);
  } catch (const std::bad_alloc&) {
    RefuseForMemory(job.id);
  }
}

// Rule 2.
void FrameServer::RefuseForMemory(uint32_t id) noexcept {
  std::lock_guard<std::mutex> lock(stats_mutex_);
  refusal_.clear();
  AddRefused(refusal_, id, "ERR_MODEL_MEMORY", "out of memory", 0);
  connection_.Send(refusal_);
}

void FrameServer::Send(std::string_view frames) {
  // Together, so that no older counters follow newer ones.
  std::lock_guard<std::mutex> lock(stats_mutex_);
  std::string out = NewStats();
  out.append(frames);
  connection_.Send(out);
}

void FrameServer::TellStats() noexcept {
  try {
    std::lock_guard<std::mutex> lock(stats_mutex_);
    connection_.Send(NewStats());
  } catch (const std::bad_alloc&) {  // told later
  }
}

// A frame of the counters, or nothing if they have been told. With the lock.
std::string FrameServer::NewStats() {
  std::string stats;
  AddStats(stats, pipeline_.stats());
  if (stats == told_) return {};
  told_ = stats;
  return stats;
}

}  // namespace oi
