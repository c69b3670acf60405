// JS values to the engine's plain data and back.

#pragma once

#include <napi.h>

#include <string>
#include <vector>

#include "../runtime/pipeline.h"

namespace oi {

// The options object of src/engine/native.ts, complete and validated there.
Pipeline::Options ToOptions(const Napi::Object& object);

// texts[i] with trusted[i]. Throws a JS TypeError if the lengths differ.
std::vector<TextPart> ToParts(const Napi::Array& texts, const Napi::Uint8Array& trusted);

// Gives each part whose `trusted` is 2 the next picture: its RGB bytes, its width and height in
// `sizes`. Throws a JS TypeError if they do not fit together.
void AddPictures(const Napi::Uint8Array& trusted, const Napi::Array& pictures,
                 const Napi::Int32Array& sizes, std::vector<TextPart>& parts);

// See EngineWrap::Score. Throws a JS TypeError if shape and arrays do not fit together.
ScoreRequest ToRequest(std::vector<TextPart> parts, const Napi::Int32Array& shape,
                       const Napi::Int32Array& candidates);

Napi::Object FromFacts(Napi::Env env, const ModelFacts& facts);
Napi::Object FromResult(Napi::Env env, const Job& job);
// EngineStats of src/engine/types.ts.
Napi::Object FromStats(Napi::Env env, const EngineStats& stats);
Napi::Value FromTokens(Napi::Env env, const Job& job);

// A JS Error with `code` set.
Napi::Value ToError(Napi::Env env, const char* code, const std::string& message);

}  // namespace oi
