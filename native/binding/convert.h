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

// `ask` is a ScoreAsk of src/engine/pack.ts: P parts, those of the prefix first, then those of Q
// questions, with C candidates and I images in all. test/native/border.test.ts compares the two.
//
//   texts       P strings; "" for an image
//   kinds       Uint8Array, P: 0 a caller's text, 1 a template's (control tokens), 2 an image
//   shape       Int32Array, 1 + 2 Q: parts of the prefix; then for each question its parts and its
//               candidates
//   candidates  Int32Array, C token ids, question by question
//   images      I Uint8Arrays, in the order of their parts: RGB, 8 bits each, from the top row on
//   sizes       Int32Array, 2 I, pixels, each at least 1: width and height of each image
//   workspace   0 to 2^32 - 1
//   scope       a string: who shares what is evaluated
//   deadlineMs  milliseconds from now; Infinity for none
//
// Copied into the job. Throws a JS TypeError that names what is of another type or does not fit.
void ToScore(const Napi::Object& ask, Job& job);

// texts[i] with kinds[i], 0 or 1 as above. Throws a JS TypeError if the lengths differ.
std::vector<TextPart> ToParts(const Napi::Value& texts, std::span<const uint8_t> kinds);

// A view of what JavaScript holds. Throws a JS TypeError, with the name, for another type.
std::span<const uint8_t> ToBytes(const Napi::Value& array, const char* name);
std::span<const int32_t> ToIntegers(const Napi::Value& array, const char* name);

Napi::Object FromFacts(Napi::Env env, const ModelFacts& facts);
Napi::Object FromResult(Napi::Env env, const Job& job);
// EngineStats of src/engine/stats.ts.
Napi::Object FromStats(Napi::Env env, const EngineStats& stats);
Napi::Value FromTokens(Napi::Env env, const Job& job);

// The error of a job that failed, with its times and the question that is at fault.
Napi::Value ErrorOf(Napi::Env env, const Job& job);
// A JS Error with `code` set.
Napi::Value ToError(Napi::Env env, const char* code, const std::string& message);

}  // namespace oi
