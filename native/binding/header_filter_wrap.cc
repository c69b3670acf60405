#include "header_filter_wrap.h"

#include <string_view>
#include <utility>
#include <vector>

#ifdef __linux__
// Of libuv's public interface, whose headers Node-API does not bring along.
extern "C" {
struct uv_loop_s;
struct uv_handle_s;
void uv_walk(uv_loop_s*, void (*)(uv_handle_s*, void*), void*);
int uv_fileno(const uv_handle_s*, int*);
int uv_handle_get_type(const uv_handle_s*);
const char* uv_handle_type_name(int);
void* uv_handle_get_data(const uv_handle_s*);
}
#endif

namespace oi {

namespace {

using Polls = std::vector<std::pair<int, void*>>;

// See HeaderFilter::Create.
Polls PollsOf([[maybe_unused]] napi_env env) {
  Polls polls;
#ifdef __linux__
  uv_loop_s* loop = nullptr;
  if (napi_get_uv_event_loop(env, &loop) != napi_ok) return polls;
  const auto add = [](uv_handle_s* handle, void* all) {
    int fd = -1;
    if (std::string_view(uv_handle_type_name(uv_handle_get_type(handle))) != "poll") return;
    if (uv_fileno(handle, &fd) != 0) return;
    static_cast<Polls*>(all)->emplace_back(fd, uv_handle_get_data(handle));
  };
  uv_walk(loop, add, &polls);
#endif
  return polls;
}

int Number(const Napi::CallbackInfo& info) { return info[0].As<Napi::Number>().Int32Value(); }

}  // namespace

Napi::Function HeaderFilterWrap::Define(Napi::Env env) {
  return DefineClass(env, "NativeHeaderFilter",
                     {InstanceMethod("attach", &HeaderFilterWrap::Attach),
                      InstanceMethod("sending", &HeaderFilterWrap::Sending),
                      InstanceMethod("probe", &HeaderFilterWrap::Probe),
                      InstanceMethod("isThere", &HeaderFilterWrap::IsThere),
                      InstanceMethod("closeIfSent", &HeaderFilterWrap::CloseIfSent),
                      InstanceMethod("resume", &HeaderFilterWrap::Resume),
                      InstanceMethod("dispose", &HeaderFilterWrap::Dispose)});
}

HeaderFilterWrap::HeaderFilterWrap(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<HeaderFilterWrap>(info), context_(info.Env(), "oi:filter") {
  const auto owner = info[0].As<Napi::Object>();
  const auto function = [&owner](const char* name) {
    return Napi::Persistent(owner.Get(name).As<Napi::Function>());
  };
  take_over_ = function("takeOver");
  half_closed_ = function("halfClosed");
  closed_ = function("closed");
}

bool HeaderFilterWrap::Ask(const Napi::FunctionReference& question,
                           const std::vector<napi_value>& arguments) {
  try {
    return question.MakeCallback(Env().Global(), arguments, context_).ToBoolean();
  } catch (const Napi::Error&) {
    return false;
  }
}

// attach({ port, binary, idleSeconds, refusal, answering, current }): whether it stands.
Napi::Value HeaderFilterWrap::Attach(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto options = info[0].As<Napi::Object>();
  const auto number = [&options](const char* name) {
    return options.Get(name).As<Napi::Number>().Int32Value();
  };
  const auto text = [&options](const char* name) {
    return options.Get(name).As<Napi::String>().Utf8Value();
  };
  FilterOwner owner;
  owner.take_over = [this](int connection, int fd, std::string_view bytes, bool late) {
    const Napi::HandleScope scope(Env());
    return Ask(take_over_, {Napi::Number::New(Env(), connection), Napi::Number::New(Env(), fd),
                            Napi::Buffer<char>::Copy(Env(), bytes.data(), bytes.size()),
                            Napi::Boolean::New(Env(), late)});
  };
  owner.half_closed = [this](int connection) {
    const Napi::HandleScope scope(Env());
    return Ask(half_closed_, {Napi::Number::New(Env(), connection)});
  };
  owner.closed = [this](int connection, bool lost) {
    const Napi::HandleScope scope(Env());
    Ask(closed_, {Napi::Number::New(Env(), connection), Napi::Boolean::New(Env(), lost)});
  };
  auto answering = options.Get("answering").As<Napi::Uint8Array>();
  auto current = options.Get("current").As<Napi::Int32Array>();
  answering_ = Napi::Persistent(answering);
  current_ = Napi::Persistent(current);
  filter_.reset(HeaderFilter::Create(PollsOf(env), number("port"), text("binary"),
                                     {static_cast<unsigned>(number("idleSeconds")), text("refusal"),
                                      answering.Data(), answering.ElementLength(), current.Data()},
                                     std::move(owner)));
  // The server owns this object until dispose(): sockets call it.
  if (filter_ != nullptr) Ref();
  return Napi::Boolean::New(env, filter_ != nullptr);
}

Napi::Value HeaderFilterWrap::Sending(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), filter_->Sending());
}

void HeaderFilterWrap::Probe(const Napi::CallbackInfo& info) { filter_->Probe(Number(info)); }

Napi::Value HeaderFilterWrap::IsThere(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), filter_->IsThere(Number(info)));
}

void HeaderFilterWrap::CloseIfSent(const Napi::CallbackInfo& info) {
  filter_->CloseIfSent(Number(info));
}

void HeaderFilterWrap::Resume(const Napi::CallbackInfo& info) {
  if (filter_ != nullptr) filter_->Resume(Number(info));
}

void HeaderFilterWrap::Dispose(const Napi::CallbackInfo&) {
  if (filter_ == nullptr) return;
  filter_.reset();
  Unref();
}

}  // namespace oi
