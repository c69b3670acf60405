#include <napi.h>
#include "llama.h"
#include "mtmd.h"
static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("v", llama_version());
  exports.Set("m", mtmd_default_marker());
  return exports;
}
NODE_API_MODULE(oi, Init)
