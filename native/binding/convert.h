// JS values to the engine's plain data and back.

#pragma once

#include <napi.h>

#include <span>
#include <string>
#include <vector>

#include "../runtime/pipeline.h"

namespace oi {

// The options object of src/engine/native.ts, complete and validated there.
Pipeline::Options ToOptions(const Napi::Object& object);

// texts[i] with trusted[i]. Throws a JS TypeError if the lengths differ.
std::vector<TextPart> ToParts(const Napi::Array& texts, const Napi::Uint8Array& trusted);

// The RGB bytes of each: views of what JavaScript holds.
std::vector<std::span<const uint8_t>> ToPictures(const Napi::Array& pictures);

template <typename T>
std::span<const T> ToSpan(const Napi::TypedArrayOf<T>& array) {
  return {array.Data(), array.ElementLength()};
}

Napi::Object FromFacts(Napi::Env env, const ModelFacts& facts);
Napi::Object FromResult(Napi::Env env, const Job& job);
// EngineStats of src/engine/types.ts.
Napi::Object FromStats(Napi::Env env, const EngineStats& stats);
Napi::Value FromTokens(Napi::Env env, const Job& job);

// A JS Error with `code` set.
Napi::Value ToError(Napi::Env env, const char* code, const std::string& message);

}  // namespace oi
