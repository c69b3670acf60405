// NativeEngine: the JS object behind src/engine/engine.ts.
//
// Every method here runs on the JS thread. Arguments were validated in TypeScript; this
// layer checks only what would corrupt memory.
//
// Lifetime
//   1. The object references itself from construction until close() settles, so garbage
//      collection never ends a thread. An unclosed engine is a leak.
//   2. The channel holds the event loop open only while a promise is pending: an idle engine
//      does not keep the process alive.
//   3. Environment teardown (the event loop has drained, worker.terminate()) runs OnTeardown
//      before any finalizer. It joins the threads, so no call can reach the channel after
//      Node has freed it.
//   4. process.exit() and uncaught exceptions run no teardown hook on the main thread: C++
//      statics, llama.cpp's too, would be destroyed under a running decode. So the module
//      listens to the process' "exit" event and stops every live engine there.

#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "../frames/frame_server.h"
#include "../runtime/pipeline.h"

namespace oi {

class EngineWrap : public Napi::ObjectWrap<EngineWrap> {
 public:
  // The live engines of one environment, as its instance data.
  using Live = std::set<EngineWrap*>;

  static Napi::Function Define(Napi::Env env);
  // Rule 4. Cancels what runs, drops what waits, joins; later calls are refused as closed.
  void Stop() {
    if (pipeline_) last_stats_ = pipeline_->stats();
    if (server_) server_->Stop();
    pipeline_.reset();
    server_.reset();  // until here jobs of the pipeline may be answered through it
  }

  explicit EngineWrap(const Napi::CallbackInfo& info);
  ~EngineWrap() override = default;

 private:
  // A job plus the promise it settles. Created and settled on the JS thread; carried, never
  // read, by the others.
  struct Message;
  struct Call : Job {
    Call(Napi::Env env, Kind kind, uint32_t id) : Job(kind, id), deferred(env) {}
    Napi::Promise::Deferred deferred;
    // Carries it when it is done: without memory, it can still end.
    std::unique_ptr<Message> message = std::make_unique<Message>();
  };

  // What the channel carries: a finished call, how far loading has come, or that and why a front
  // is gone.
  struct Message {
    std::unique_ptr<Job> job;
    float progress = 0;
    std::optional<std::string> ended;
  };

  static void Receive(Napi::Env env, Napi::Function, EngineWrap* self, Message* message);
  using Channel = Napi::TypedThreadSafeFunction<EngineWrap, Message, &EngineWrap::Receive>;

  // serve(fd, fatal, leastStepMs): Promise<void>. Answers what a front asks
  // (frames/frame_server.h) until its stream ends, from now on: also pings, and how far loading
  // is, before open(). Rejects if it breaks the protocol. At most once.
  Napi::Value Serve(const Napi::CallbackInfo& info);
  // send(frame: Uint8Array): void. To that front.
  void SendFrame(const Napi::CallbackInfo& info);
  // open(): Promise<ModelFacts>
  Napi::Value Open(const Napi::CallbackInfo& info);
  // score(id, ask: ScoreAsk): Promise<ScoreOutput>. What is in `ask`: ToScore() in convert.h.
  Napi::Value Score(const Napi::CallbackInfo& info);
  // tokenize(id, texts: string[], kinds: Uint8Array): Promise<Int32Array[]>
  Napi::Value Tokenize(const Napi::CallbackInfo& info);
  // count(id, text: string): Promise<number>
  Napi::Value Count(const Napi::CallbackInfo& info);
  // countNow(text: string): number | undefined
  Napi::Value CountNow(const Napi::CallbackInfo& info);
  // stats(): EngineStats
  Napi::Value Stats(const Napi::CallbackInfo& info);
  // cancel(id): void
  void Cancel(const Napi::CallbackInfo& info);
  // close(): Promise<void>. Called once; src/engine makes it idempotent.
  Napi::Value Close(const Napi::CallbackInfo& info);

  void Send(std::unique_ptr<Message> message);
  Napi::Value Submit(Napi::Env env, std::unique_ptr<Call> call);
  void Settle(Napi::Env env, Call& call);
  void FinishClose(Napi::Env env);
  void EndServing(Napi::Env env, const std::string& why);
  static void OnTeardown(void* self);

  Channel channel_;
  std::unique_ptr<FrameServer> server_;
  std::unique_ptr<Pipeline> pipeline_;
  std::optional<Napi::Promise::Deferred> serving_;
  EngineStats last_stats_;  // once it is stopped
  Napi::FunctionReference on_progress_;
  size_t pending_ = 0;
};

}  // namespace oi
