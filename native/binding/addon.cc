// The module: its classes, the machine as it is seen from here, and what it was built from.

#include <fcntl.h>
#include <napi.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "../engine/stats.h"
#include "../machine/available_bytes.h"
#include "../machine/cores.h"
#include "../machine/send_datagram.h"
#include "convert.h"
#include "engine_wrap.h"
#include "header_filter_wrap.h"

namespace {

// See engine_wrap.h, rule 4.
void StopAtExit(const Napi::CallbackInfo& info) {
  for (oi::EngineWrap* engine : *info.Env().GetInstanceData<oi::EngineWrap::Live>()) engine->Stop();
}

// machine(root: string) => { cores: number, availableBytes?: number }
Napi::Value Machine(const Napi::CallbackInfo& info) {
  const std::string root = info[0].As<Napi::String>();
  auto machine = Napi::Object::New(info.Env());
  machine.Set("cores", oi::AvailableCores(root));
  if (const auto bytes = oi::AvailableBytes(root)) {
    machine.Set("availableBytes", static_cast<double>(*bytes));
  }
  return machine;
}

// sendDatagram(path: string, text: string) => number, see machine/send_datagram.h
Napi::Value SendDatagram(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>();
  const std::string text = info[1].As<Napi::String>();
  return Napi::Number::New(info.Env(), oi::SendDatagram(path, text));
}

// socketPair() => [number, number]
Napi::Value SocketPair(const Napi::CallbackInfo& info) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) {
    const std::string why = std::generic_category().message(errno);
    throw Napi::Error(info.Env(), oi::ToError(info.Env(), "ERR_ENGINE_INTERNAL", why));
  }
  auto pair = Napi::Array::New(info.Env(), 2);
  for (uint32_t i = 0; i < 2; ++i) {
    fcntl(sockets[i], F_SETFD, FD_CLOEXEC);
    pair.Set(i, sockets[i]);
  }
  return pair;
}

// The counters' names with commas between, as statNames of src/engine/stats.ts.
std::string StatNames() {
  std::string names;
  oi::ForEachStat(oi::EngineStats{}, [&](const char* name, double) {
    if (!names.empty()) names += ',';
    names += name;
  });
  return names;
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new oi::EngineWrap::Live());
  const auto process = env.Global().Get("process").As<Napi::Object>();
  process.Get("once").As<Napi::Function>().Call(
      process, {Napi::String::New(env, "exit"), Napi::Function::New(env, StopAtExit)});
  exports.Set("NativeEngine", oi::EngineWrap::Define(env));
  exports.Set("machine", Napi::Function::New<Machine>(env));
  exports.Set("sendDatagram", Napi::Function::New<SendDatagram>(env));
  exports.Set("socketPair", Napi::Function::New<SocketPair>(env));
  exports.Set("NativeHeaderFilter", oi::HeaderFilterWrap::Define(env));
  exports.Set("llamaCommit", OI_LLAMA_COMMIT);
  exports.Set("changedHeaders", OI_CHANGED_HEADERS);
  exports.Set("statNames", StatNames());
  return exports;
}

}  // namespace

NODE_API_MODULE(oi, Init)
