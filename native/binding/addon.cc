// The module: one class and what it was built from.

#include <napi.h>

#include "engine_wrap.h"

namespace {

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("NativeEngine", oi::EngineWrap::Define(env));
  exports.Set("llamaCommit", OI_LLAMA_COMMIT);
  return exports;
}

}  // namespace

NODE_API_MODULE(oi, Init)
