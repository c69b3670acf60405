#include "convert.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "../runtime/assemble.h"

namespace oi {
namespace {

uint32_t Unsigned(const Napi::Object& object, const char* key) {
  return object.Get(key).As<Napi::Number>().Uint32Value();
}

std::string String(const Napi::Object& object, const char* key) {
  return object.Get(key).As<Napi::String>().Utf8Value();
}

bool Boolean(const Napi::Object& object, const char* key) {
  return object.Get(key).As<Napi::Boolean>().Value();
}

// Checks the type: as the wrong one, bytes beyond the array's end would be read.
template <typename T>
std::span<const T> ToSpan(const Napi::Value& value, const char* name, napi_typedarray_type type,
                          const char* expected) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    throw Napi::TypeError::New(value.Env(), std::string(name) + ": expected " + expected);
  }
  const auto array = value.As<Napi::TypedArrayOf<T>>();
  return {array.Data(), array.ElementLength()};
}

Napi::Array ToArray(const Napi::Value& value, const char* name) {
  if (value.IsArray()) return value.As<Napi::Array>();
  throw Napi::TypeError::New(value.Env(), std::string(name) + ": expected an array");
}

Napi::Int32Array FromInts(Napi::Env env, const std::vector<Token>& values) {
  auto out = Napi::Int32Array::New(env, values.size());
  if (!values.empty()) std::memcpy(out.Data(), values.data(), values.size() * sizeof(Token));
  return out;
}

void SetTimes(Napi::Object out, const Job& job) {
  out.Set("queueMs", job.queue_ms);
  out.Set("tokenizeMs", job.tokenize_ms);
  out.Set("visionMs", job.vision_ms);
  out.Set("modelMs", job.model_ms);
}

Napi::Array FromPlacement(Napi::Env env, const std::vector<Placement>& placement) {
  auto out = Napi::Array::New(env);
  for (const Placement& entry : placement) {
    auto object = Napi::Object::New(env);
    object.Set("device", entry.device);
    object.Set("description", entry.description);
    object.Set("layers", entry.layers);
    object.Set("weightBytes", static_cast<double>(entry.weight_bytes));
    object.Set("cellBytes", static_cast<double>(entry.cell_bytes));
    object.Set("bufferBytes", static_cast<double>(entry.buffer_bytes));
    object.Set("freeBytes", static_cast<double>(entry.free_bytes));
    out.Set(out.Length(), object);
  }
  return out;
}

}  // namespace

Pipeline::Options ToOptions(const Napi::Object& object) {
  EngineOptions engine;
  engine.model_path = String(object, "modelPath");
  engine.projector_path = String(object, "projectorPath");
  engine.context_tokens = Unsigned(object, "contextTokens");
  engine.max_forks = Unsigned(object, "maxForks");
  engine.batch_tokens = Unsigned(object, "batchTokens");
  engine.microbatch_tokens = Unsigned(object, "microbatchTokens");
  engine.threads = Unsigned(object, "threads");
  engine.device = String(object, "device");
  engine.split = String(object, "split") == "row" ? Split::kRow : Split::kLayer;
  const auto shares = object.Get("tensorSplit").As<Napi::Array>();
  for (uint32_t i = 0; i < shares.Length(); ++i) {
    engine.tensor_split.push_back(shares.Get(i).As<Napi::Number>().FloatValue());
  }
  engine.gpu_layers = object.Get("gpuLayers").As<Napi::Number>().Int32Value();
  engine.cpu_experts = object.Get("cpuExperts").As<Napi::Number>().Int32Value();
  engine.mmap = Boolean(object, "mmap");
  engine.mlock = Boolean(object, "mlock");
  engine.kernels = String(object, "kernels") == "auto";
  engine.deterministic = Boolean(object, "deterministic");
  engine.host_bytes = object.Get("hostCacheBytes").As<Napi::Number>().Int64Value();
  engine.disk_folder = String(object, "diskCacheDir");
  engine.disk_bytes =
      static_cast<uint64_t>(object.Get("diskCacheBytes").As<Napi::Number>().Int64Value());
  engine.metadata_only = Boolean(object, "metadataOnly");
  const std::string flash = String(object, "flashAttention");
  engine.flash_attention = flash == "on"    ? FlashAttention::kOn
                           : flash == "off" ? FlashAttention::kOff
                                            : FlashAttention::kAuto;
  const std::string cache = String(object, "cacheType");
  engine.cache_type = cache == "f32"    ? CacheType::kF32
                      : cache == "bf16" ? CacheType::kBF16
                                        : CacheType::kF16;
  return {std::move(engine), Unsigned(object, "maxQueued"),
          object.Get("maxBacklogMs").As<Napi::Number>().DoubleValue(),
          Unsigned(object, "tokenizerThreads")};
}

void ToScore(const Napi::Object& ask, Job& job) {
  // All of it first: reading a member could run code that moves what a view shows.
  const Napi::Value texts = ask.Get("texts");
  const Napi::Value kinds = ask.Get("kinds");
  const Napi::Value shape = ask.Get("shape");
  const Napi::Value candidates = ask.Get("candidates");
  const Napi::Array image_list = ToArray(ask.Get("images"), "images");
  const Napi::Value sizes = ask.Get("sizes");
  job.workspace = Unsigned(ask, "workspace");
  std::string scope = String(ask, "scope");
  job.SetDeadline(ask.Get("deadlineMs").As<Napi::Number>().DoubleValue());

  std::vector<TextPart> parts = ToParts(texts, ToBytes(kinds, "kinds"));
  std::vector<std::span<const uint8_t>> images;
  for (uint32_t i = 0; i < image_list.Length(); ++i) {
    images.push_back(ToBytes(image_list.Get(i), "images"));
  }
  try {
    AddImages(ToBytes(kinds, "kinds"), images, ToIntegers(sizes, "sizes"), parts);
    job.request = Assemble(std::move(parts), ToIntegers(shape, "shape"),
                           ToIntegers(candidates, "candidates"));
    job.request.scope = std::move(scope);
  } catch (const MalformedRequest& error) {
    throw Napi::TypeError::New(ask.Env(), error.what());
  }
}

std::vector<TextPart> ToParts(const Napi::Value& value, std::span<const uint8_t> kinds) {
  const auto texts = ToArray(value, "texts");
  const uint32_t count = texts.Length();
  if (kinds.size() != count) {
    throw Napi::TypeError::New(value.Env(), "texts and kinds differ in length");
  }
  std::vector<TextPart> parts;
  parts.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    parts.push_back({texts.Get(i).As<Napi::String>().Utf8Value(), kinds[i] == 1, nullptr});
  }
  return parts;
}

std::span<const uint8_t> ToBytes(const Napi::Value& array, const char* name) {
  return ToSpan<uint8_t>(array, name, napi_uint8_array, "a Uint8Array");
}

std::span<const int32_t> ToIntegers(const Napi::Value& array, const char* name) {
  return ToSpan<int32_t>(array, name, napi_int32_array, "an Int32Array");
}

Napi::Object FromFacts(Napi::Env env, const ModelFacts& facts) {
  auto out = Napi::Object::New(env);
  out.Set("architecture", facts.architecture);
  out.Set("description", facts.description);
  out.Set("device", facts.device);
  out.Set("placement", FromPlacement(env, facts.placement));
  auto notes = Napi::Array::New(env);
  for (const std::string& note : facts.notes) notes.Set(notes.Length(), note);
  out.Set("notes", notes);
  out.Set("kernels", facts.kernels);
  if (facts.has_chat_template) out.Set("chatTemplate", facts.chat_template);
  auto templates = Napi::Object::New(env);
  for (const auto& [name, text] : facts.chat_templates) templates.Set(name, text);
  out.Set("chatTemplates", templates);
  out.Set("bosToken", facts.bos_token);
  out.Set("eosToken", facts.eos_token);
  out.Set("parameters", static_cast<double>(facts.parameters));
  out.Set("weightBytes", static_cast<double>(facts.weight_bytes));
  out.Set("contextBytes", static_cast<double>(facts.context_bytes));
  out.Set("vocabularySize", facts.vocabulary_size);
  out.Set("trainedContextTokens", facts.trained_context_tokens);
  out.Set("contextTokens", facts.context_tokens);
  out.Set("maxStateTokens", facts.max_state_tokens);
  out.Set("maxForks", facts.max_forks);
  out.Set("threads", facts.threads);
  out.Set("sameBits", facts.same_bits);
  out.Set("stepTokens", facts.step_tokens);
  out.Set("hostCacheBytes", static_cast<double>(facts.host_bytes));
  out.Set("recurrent", facts.recurrent);
  out.Set("hybrid", facts.hybrid);
  out.Set("vision", facts.vision);
  auto metadata = Napi::Object::New(env);
  for (const auto& [key, value] : facts.metadata) metadata.Set(key, value);
  out.Set("metadata", metadata);
  auto ordinary = Napi::Uint8Array::New(env, facts.ordinary.size());
  std::copy(facts.ordinary.begin(), facts.ordinary.end(), ordinary.Data());
  out.Set("ordinary", ordinary);
  return out;
}

Napi::Object FromResult(Napi::Env env, const Job& job) {
  auto out = Napi::Object::New(env);
  const ScoreResult& result = job.task->result;
  const std::vector<float>& logits = result.logits;
  auto array = Napi::Float32Array::New(env, logits.size());
  if (!logits.empty()) std::memcpy(array.Data(), logits.data(), logits.size() * sizeof(float));
  out.Set("logits", array);
  auto ranks = Napi::Int32Array::New(env, result.ranks.size());
  std::copy(result.ranks.begin(), result.ranks.end(), ranks.Data());
  out.Set("ranks", ranks);
  out.Set("prefixTokens", static_cast<double>(result.prefix_tokens));
  out.Set("imageTokens", static_cast<double>(result.image_tokens));
  out.Set("suffixTokens", static_cast<double>(result.suffix_tokens));
  out.Set("cachedTokens", static_cast<double>(result.cached_tokens));
  out.Set("evaluatedTokens", static_cast<double>(result.evaluated_tokens));
  SetTimes(out, job);
  return out;
}

Napi::Object FromStats(Napi::Env env, const EngineStats& stats) {
  auto out = Napi::Object::New(env);
  ForEachStat(stats, [&](const char* name, double value) { out.Set(name, value); });
  return out;
}

Napi::Value FromTokens(Napi::Env env, const Job& job) {
  if (job.count_only) {
    return Napi::Number::New(env, job.counts.empty() ? 0 : job.counts.front());
  }
  auto out = Napi::Array::New(env, job.tokens.size());
  for (size_t i = 0; i < job.tokens.size(); ++i) {
    out.Set(static_cast<uint32_t>(i), FromInts(env, job.tokens[i]));
  }
  return out;
}

Napi::Value ErrorOf(Napi::Env env, const Job& job) {
  const Napi::Value error = ToError(env, job.error_code, job.error_message);
  const auto object = error.As<Napi::Object>();
  if (job.error_question != kNoQuestion) object.Set("question", job.error_question);
  SetTimes(object, job);
  return error;
}

Napi::Value ToError(Napi::Env env, const char* code, const std::string& message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, code));
  return error.Value();
}

}  // namespace oi
