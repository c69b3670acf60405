// The module: its classes, the machine as it is seen from here, and what it was built from.

#include <napi.h>

#include "../machine/available_bytes.h"
#include "../machine/cores.h"
#include "../machine/send_datagram.h"
#include "engine_wrap.h"
#include "gate_wrap.h"

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

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new oi::EngineWrap::Live());
  const auto process = env.Global().Get("process").As<Napi::Object>();
  process.Get("once").As<Napi::Function>().Call(
      process, {Napi::String::New(env, "exit"), Napi::Function::New(env, StopAtExit)});
  exports.Set("NativeEngine", oi::EngineWrap::Define(env));
  exports.Set("machine", Napi::Function::New<Machine>(env));
  exports.Set("sendDatagram", Napi::Function::New<SendDatagram>(env));
  exports.Set("NativeGate", oi::GateWrap::Define(env));
  exports.Set("llamaCommit", OI_LLAMA_COMMIT);
  return exports;
}

}  // namespace

NODE_API_MODULE(oi, Init)
