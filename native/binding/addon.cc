// The module: its classes and what it was built from.

#include <napi.h>

#include "engine_wrap.h"
#include "gate_wrap.h"

namespace {

// See engine_wrap.h, rule 4.
void StopAtExit(const Napi::CallbackInfo& info) {
  for (oi::EngineWrap* engine : *info.Env().GetInstanceData<oi::EngineWrap::Live>()) engine->Stop();
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new oi::EngineWrap::Live());
  const auto process = env.Global().Get("process").As<Napi::Object>();
  process.Get("once").As<Napi::Function>().Call(
      process, {Napi::String::New(env, "exit"), Napi::Function::New(env, StopAtExit)});
  exports.Set("NativeEngine", oi::EngineWrap::Define(env));
  exports.Set("NativeGate", oi::GateWrap::Define(env));
  exports.Set("llamaCommit", OI_LLAMA_COMMIT);
  return exports;
}

}  // namespace

NODE_API_MODULE(oi, Init)
