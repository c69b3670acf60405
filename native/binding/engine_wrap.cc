#include "engine_wrap.h"

#include <utility>

#include "../engine/error.h"
#include "convert.h"

namespace oi {
Napi::Function EngineWrap::Define(Napi::Env env) {
  return DefineClass(env, "NativeEngine",
                     {
                         InstanceMethod<&EngineWrap::Open>("open"),
                         InstanceMethod<&EngineWrap::Serve>("serve"),
                         InstanceMethod<&EngineWrap::SendFrame>("send"),
                         InstanceMethod<&EngineWrap::Score>("score"),
                         InstanceMethod<&EngineWrap::Tokenize>("tokenize"),
                         InstanceMethod<&EngineWrap::Count>("count"),
                         InstanceMethod<&EngineWrap::CountNow>("countNow"),
                         InstanceMethod<&EngineWrap::Stats>("stats"),
                         InstanceMethod<&EngineWrap::Cancel>("cancel"),
                         InstanceMethod<&EngineWrap::Close>("close"),
                     });
}

// new NativeEngine(options, onProgress: (fraction: number) => void)
EngineWrap::EngineWrap(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  Napi::Env env = info.Env();
  Pipeline::Options options = ToOptions(info[0].As<Napi::Object>());
  on_progress_ = Napi::Persistent(info[1].As<Napi::Function>());

  // Queue size 0 means unbounded: no thread of ours may block here.
  channel_ = Channel::New(env, "oi.engine", 0, 1, this);
  channel_.Unref(env);

  const auto done = [this](std::unique_ptr<Job> job) {
    if (auto* ask = dynamic_cast<FrameServer::Ask*>(job.get())) return ask->Answer();
    std::unique_ptr<Message> message = std::move(static_cast<Call&>(*job).message);
    message->job = std::move(job);
    Send(std::move(message));
  };
  const auto progress = [this, last = -1](float fraction) mutable {
    const int percent = static_cast<int>(fraction * 100);
    if (percent == last) return;
    last = percent;
    if (server_) server_->Progress(fraction);
    auto message = std::make_unique<Message>();
    message->progress = fraction;
    Send(std::move(message));
  };
  try {
    pipeline_ = std::make_unique<Pipeline>(std::move(options), done, progress);
  } catch (const EngineError& error) {
    channel_.Release();
    throw Napi::Error(env, ToError(env, error.code, error.what()));
  }

  // After the channel: hooks run last-in first-out, so ours sees it alive.
  napi_add_env_cleanup_hook(env, &EngineWrap::OnTeardown, this);
  env.GetInstanceData<Live>()->insert(this);
  Ref();
}

void EngineWrap::Send(std::unique_ptr<Message> message) {
  Message* raw = message.release();
  if (channel_.NonBlockingCall(raw) != napi_ok) delete raw;
}

// serve(fd: number, fatal: string, leastStepMs: number): Promise<void>
Napi::Value EngineWrap::Serve(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto deferred = Napi::Promise::Deferred::New(env);
  const auto ended = [this, message = std::make_shared<std::unique_ptr<Message>>(
                                std::make_unique<Message>())](std::string why) {
    (*message)->ended = std::move(why);
    Send(std::move(*message));
  };
  try {
    const FrameServer::Options options{info[1].As<Napi::String>().Utf8Value(),
                                       info[2].As<Napi::Number>().DoubleValue()};
    server_ = std::make_unique<FrameServer>(info[0].As<Napi::Number>().Int32Value(), *pipeline_,
                                            options, ended);
  } catch (const EngineError& error) {
    deferred.Reject(ToError(env, error.code, error.what()));
    return deferred.Promise();
  }
  serving_ = deferred;
  if (pending_++ == 0) channel_.Ref(env);
  return deferred.Promise();
}

void EngineWrap::SendFrame(const Napi::CallbackInfo& info) {
  const auto frame = info[0].As<Napi::Uint8Array>();
  if (server_) server_->Send({reinterpret_cast<const char*>(frame.Data()), frame.ByteLength()});
}

Napi::Value EngineWrap::Open(const Napi::CallbackInfo& info) {
  return Submit(info.Env(), std::make_unique<Call>(info.Env(), Job::Kind::kOpen, 0));
}

Napi::Value EngineWrap::Score(const Napi::CallbackInfo& info) {
  auto call = std::make_unique<Call>(info.Env(), Job::Kind::kScore,
                                     info[0].As<Napi::Number>().Uint32Value());
  ToScore(info[1].As<Napi::Object>(), *call);
  return Submit(info.Env(), std::move(call));
}

Napi::Value EngineWrap::Tokenize(const Napi::CallbackInfo& info) {
  auto call = std::make_unique<Call>(info.Env(), Job::Kind::kTokenize,
                                     info[0].As<Napi::Number>().Uint32Value());
  call->texts = ToParts(info[1], ToBytes(info[2], "kinds"));
  return Submit(info.Env(), std::move(call));
}

Napi::Value EngineWrap::Count(const Napi::CallbackInfo& info) {
  auto call = std::make_unique<Call>(info.Env(), Job::Kind::kTokenize,
                                     info[0].As<Napi::Number>().Uint32Value());
  call->texts.push_back({info[1].As<Napi::String>().Utf8Value(), false, nullptr});
  call->count_only = true;
  return Submit(info.Env(), std::move(call));
}

Napi::Value EngineWrap::CountNow(const Napi::CallbackInfo& info) {
  if (!pipeline_) return info.Env().Undefined();
  const auto count = pipeline_->CountNow(info[0].As<Napi::String>().Utf8Value());
  if (!count) return info.Env().Undefined();
  return Napi::Number::New(info.Env(), static_cast<double>(*count));
}

Napi::Value EngineWrap::Stats(const Napi::CallbackInfo& info) {
  return FromStats(info.Env(), pipeline_ ? pipeline_->stats() : last_stats_);
}

void EngineWrap::Cancel(const Napi::CallbackInfo& info) {
  if (pipeline_) pipeline_->Cancel(info[0].As<Napi::Number>().Uint32Value());
}

Napi::Value EngineWrap::Close(const Napi::CallbackInfo& info) {
  return Submit(info.Env(), std::make_unique<Call>(info.Env(), Job::Kind::kClose, 0));
}

Napi::Value EngineWrap::Submit(Napi::Env env, std::unique_ptr<Call> call) {
  using Push = Pipeline::Push;

  const Napi::Promise::Deferred deferred = call->deferred;
  std::unique_ptr<Job> job = std::move(call);
  Refusal refusal;
  switch (pipeline_ ? pipeline_->TryPush(job, refusal) : Push::kClosing) {
    case Push::kAccepted:
      if (pending_++ == 0) channel_.Ref(env);
      break;
    case Push::kFull: {
      const Napi::Value error = ToError(env, "ERR_OVERLOADED", refusal.message);
      error.As<Napi::Object>().Set("retryAfterMs", refusal.retry_after_ms);
      deferred.Reject(error);
      break;
    }
    case Push::kClosing:
      deferred.Reject(ToError(env, "ERR_ENGINE_CLOSED", "the engine is closed"));
      break;
  }
  return deferred.Promise();
}

void EngineWrap::Receive(Napi::Env env, Napi::Function, EngineWrap* self, Message* raw) {
  std::unique_ptr<Message> message(raw);
  // Null while a dying environment drains the channel: there is no promise left to settle,
  // and self may already be gone.
  if (env == nullptr) return;
  if (message->ended) return self->EndServing(env, *message->ended);
  if (!message->job) {
    self->on_progress_.Call({Napi::Number::New(env, message->progress)});
    return;
  }
  self->Settle(env, static_cast<Call&>(*message->job));
}

void EngineWrap::Settle(Napi::Env env, Call& call) {
  if (--pending_ == 0) channel_.Unref(env);
  if (call.kind == Job::Kind::kClose) FinishClose(env);

  if (call.error_code != nullptr) {
    call.deferred.Reject(ErrorOf(env, call));
    return;
  }
  switch (call.kind) {
    case Job::Kind::kOpen:
      return call.deferred.Resolve(FromFacts(env, call.facts));
    case Job::Kind::kScore:
      return call.deferred.Resolve(FromResult(env, call));
    case Job::Kind::kTokenize:
      return call.deferred.Resolve(FromTokens(env, call));
    case Job::Kind::kClose:
      return call.deferred.Resolve(env.Undefined());
  }
}

void EngineWrap::EndServing(Napi::Env env, const std::string& why) {
  if (--pending_ == 0) channel_.Unref(env);
  if (why.empty()) return serving_->Resolve(env.Undefined());
  serving_->Reject(Napi::Error::New(env, why).Value());
}

void EngineWrap::FinishClose(Napi::Env env) {
  napi_remove_env_cleanup_hook(env, &EngineWrap::OnTeardown, this);
  env.GetInstanceData<Live>()->erase(this);
  Stop();  // the threads have returned already; this only joins them
  channel_.Release();
  on_progress_.Reset();
  Unref();
}

void EngineWrap::OnTeardown(void* arg) {
  auto* self = static_cast<EngineWrap*>(arg);
  self->Stop();
  self->channel_.Release();
}

}  // namespace oi
