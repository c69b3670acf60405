// The runner's side of the protocol: frames in, the pipeline's jobs, frames out.
//
// No JavaScript and no further thread stand between a request's bytes and the pipeline, nor between
// its answer and the stream, so a runner adds little latency to an engine in the front's process.
//
// Rules
//   1. Frames are read, and pings answered, on a thread that the engine's work never blocks.
//      While a step hangs, no ping is answered: the front then ends the process.
//   2. Without memory for it, a request is refused, and an answer becomes that refusal: its frame
//      has its memory from the start.
//   3. Counters are sent before every reply that they count, so a front knows them as they were
//      when its answer was ready; else when they have changed, ten times a second at most.

#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "../runtime/pipeline.h"
#include "../runtime/thread.h"
#include "connection.h"

namespace oi {

class FrameServer {
 public:
  // Told once, on a thread of this object, when the stream has ended: why, or "" if the front
  // ended it.
  using Ended = std::function<void(std::string)>;  // must not throw

  struct Options {
    // For tests: a request with this text in it ends the process; "" for none.
    std::string fatal;
    // How long a step may take, whatever was expected.
    double least_step_ms;
  };

  // A job that a front asked for. The pipeline's `done` must call Answer() of it.
  struct Ask final : Job {
    Ask(Kind kind, uint32_t id, FrameServer& server) : Job(kind, id), server(server) {}
    void Answer() noexcept { server.Answer(*this); }

    FrameServer& server;
  };

  // Serves at once. `fd`: see Connection. Both outlive this object's Stop(), and this object what
  // the pipeline has of it. Throws EngineError ERR_ENGINE_INTERNAL if the system gives no threads.
  FrameServer(int fd, Pipeline& pipeline, Options options, Ended ended);
  ~FrameServer() { Stop(); }

  FrameServer(const FrameServer&) = delete;
  FrameServer& operator=(const FrameServer&) = delete;

  // Takes no more, and joins. Not on a thread of this object.
  void Stop();

  // Behind the counters, as any reply that may have changed them.
  void Send(std::string_view frames);
  void Progress(float fraction);

 private:
  void Receive();
  void Take(const Frame& frame);
  void RefuseForMemory(uint32_t id) noexcept;
  void Push(std::unique_ptr<Ask> ask);
  void Count(uint32_t id, std::string text);
  void RequireHarmless(const Job& job) const;
  void Answer(const Job& job) noexcept;
  void TellStats() noexcept;
  std::string NewStats();

  Pipeline& pipeline_;
  const Options options_;
  const Ended ended_;
  Connection connection_;

  std::mutex stats_mutex_;
  std::string told_;     // guarded by stats_mutex_: the last counters, as a frame
  std::string refusal_;  // guarded by stats_mutex_: room for rule 2

  std::unique_ptr<Thread> teller_;
  std::unique_ptr<Thread> receiver_;  // last: they use every member above
};

}  // namespace oi
