// NativeHeaderFilter: the JS object behind src/http/transport/uws-transport.ts. See
// transport/header_filter.h.
//
// All of it runs on the JS thread, from the event loop: no call of JS is on the stack when the
// filter asks its owner.

#pragma once

#include <napi.h>

#include <memory>

#include "../transport/header_filter.h"

namespace oi {

class HeaderFilterWrap : public Napi::ObjectWrap<HeaderFilterWrap> {
 public:
  static Napi::Function Define(Napi::Env env);
  explicit HeaderFilterWrap(const Napi::CallbackInfo& info);

 private:
  Napi::Value Attach(const Napi::CallbackInfo& info);
  Napi::Value Sending(const Napi::CallbackInfo& info);
  void Probe(const Napi::CallbackInfo& info);
  Napi::Value IsThere(const Napi::CallbackInfo& info);
  void CloseIfSent(const Napi::CallbackInfo& info);
  void Resume(const Napi::CallbackInfo& info);
  void Dispose(const Napi::CallbackInfo& info);
  // Calls JS from the event loop. What it throws is taken for false.
  bool Ask(const Napi::FunctionReference& question, const std::vector<napi_value>& arguments);

  Napi::AsyncContext context_;
  Napi::FunctionReference take_over_;
  Napi::FunctionReference half_closed_;
  Napi::FunctionReference closed_;
  // Their memory is the filter's, too.
  Napi::Reference<Napi::Uint8Array> answering_;
  Napi::Reference<Napi::Int32Array> current_;
  std::unique_ptr<HeaderFilter> filter_;
};

}  // namespace oi
