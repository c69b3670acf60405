#include "convert.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace oi {
namespace {

// What stands in `trusted` for a picture.
constexpr uint8_t kPicture = 2;

uint32_t Unsigned(const Napi::Object& object, const char* key) {
  return object.Get(key).As<Napi::Number>().Uint32Value();
}

std::string String(const Napi::Object& object, const char* key) {
  return object.Get(key).As<Napi::String>().Utf8Value();
}

bool Boolean(const Napi::Object& object, const char* key) {
  return object.Get(key).As<Napi::Boolean>().Value();
}

Napi::Int32Array FromInts(Napi::Env env, const std::vector<Token>& values) {
  auto out = Napi::Int32Array::New(env, values.size());
  if (!values.empty()) std::memcpy(out.Data(), values.data(), values.size() * sizeof(Token));
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
  engine.gpu_layers = object.Get("gpuLayers").As<Napi::Number>().Int32Value();
  engine.mmap = Boolean(object, "mmap");
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

std::vector<TextPart> ToParts(const Napi::Array& texts, const Napi::Uint8Array& trusted) {
  const uint32_t count = texts.Length();
  if (trusted.ElementLength() != count) {
    throw Napi::TypeError::New(texts.Env(), "texts and trusted differ in length");
  }
  std::vector<TextPart> parts;
  parts.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    parts.push_back({texts.Get(i).As<Napi::String>().Utf8Value(), trusted[i] == 1, nullptr});
  }
  return parts;
}

void AddPictures(const Napi::Uint8Array& trusted, const Napi::Array& pictures,
                 const Napi::Int32Array& sizes, std::vector<TextPart>& parts) {
  const auto refuse = [&] { throw Napi::TypeError::New(sizes.Env(), "pictures do not fit"); };
  const size_t count = pictures.Length();
  if (sizes.ElementLength() != 2 * count) refuse();
  uint32_t next = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (trusted[i] != kPicture) continue;
    if (next == count) refuse();
    auto pixels = std::make_shared<Pixels>();
    if (sizes[2 * next] < 1 || sizes[2 * next + 1] < 1) refuse();
    pixels->width = static_cast<uint32_t>(sizes[2 * next]);
    pixels->height = static_cast<uint32_t>(sizes[2 * next + 1]);
    const auto rgb = pictures.Get(next++).As<Napi::Uint8Array>();
    if (rgb.ElementLength() != uint64_t{3} * pixels->width * pixels->height) refuse();
    pixels->rgb.assign(rgb.Data(), rgb.Data() + rgb.ElementLength());
    parts[i].picture = std::move(pixels);
  }
  if (next != count) refuse();
}

ScoreRequest ToRequest(std::vector<TextPart> parts, const Napi::Int32Array& shape,
                       const Napi::Int32Array& candidates) {
  const auto refuse = [&] { throw Napi::TypeError::New(shape.Env(), "shape does not fit"); };
  if (shape.ElementLength() % 2 != 1) refuse();
  size_t part = 0;
  size_t candidate = 0;
  const auto take_parts = [&](int32_t count, std::vector<TextPart>& out) {
    if (count < 0 || static_cast<size_t>(count) > parts.size() - part) refuse();
    for (int32_t i = 0; i < count; ++i) out.push_back(std::move(parts[part++]));
  };
  ScoreRequest request;
  take_parts(shape[0], request.prefix);
  for (size_t i = 1; i < shape.ElementLength(); i += 2) {
    Question question;
    take_parts(shape[i], question.parts);
    const int32_t count = shape[i + 1];
    if (count < 0 || static_cast<size_t>(count) > candidates.ElementLength() - candidate) refuse();
    question.candidates.assign(candidates.Data() + candidate,
                               candidates.Data() + candidate + count);
    candidate += static_cast<size_t>(count);
    request.questions.push_back(std::move(question));
  }
  if (part != parts.size() || candidate != candidates.ElementLength()) refuse();
  return request;
}

Napi::Object FromFacts(Napi::Env env, const ModelFacts& facts) {
  auto out = Napi::Object::New(env);
  out.Set("architecture", facts.architecture);
  out.Set("description", facts.description);
  out.Set("device", facts.device);
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
  out.Set("maxForks", facts.max_forks);
  out.Set("threads", facts.threads);
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
  out.Set("queueMs", job.queue_ms);
  out.Set("tokenizeMs", job.tokenize_ms);
  out.Set("visionMs", job.vision_ms);
  out.Set("modelMs", job.model_ms);
  return out;
}

Napi::Object FromStats(Napi::Env env, const EngineStats& stats) {
  auto out = Napi::Object::New(env);
  const auto set = [&](const char* key, auto value) { out.Set(key, static_cast<double>(value)); };
  const auto tier = [](Tier tier) { return static_cast<size_t>(tier); };
  const ScorerStats& scorer = stats.scorer;
  const CacheStats& cache = scorer.cache;
  set("queuedRequests", stats.queued_requests);
  set("queuedTokens", stats.queued_tokens);
  set("backlogMs", stats.backlog_ms);
  set("answered", stats.answered);
  set("cancelled", stats.cancelled);
  set("expired", stats.expired);
  set("refused", stats.refused);
  set("failed", stats.failed);
  set("steps", scorer.steps);
  set("capacityTokens", scorer.capacity_tokens);
  set("busyMs", scorer.busy_ms);
  set("evaluatedTokens", scorer.evaluated_tokens);
  set("paddingTokens", scorer.padding_tokens);
  set("lostTokens", scorer.lost_tokens);
  set("tokensPerSecond", scorer.tokens_per_second);
  set("promptTokens", stats.prompt_tokens);
  set("deviceCachedTokens", stats.cached_tokens[tier(Tier::kDevice)]);
  set("hostCachedTokens", stats.cached_tokens[tier(Tier::kHost)]);
  set("diskCachedTokens", stats.cached_tokens[tier(Tier::kDisk)]);
  set("deviceHits", stats.hits[tier(Tier::kDevice)]);
  set("hostHits", stats.hits[tier(Tier::kHost)]);
  set("diskHits", stats.hits[tier(Tier::kDisk)]);
  set("missed", stats.hits[tier(Tier::kNone)]);
  set("deviceCells", cache.device_cells);
  set("deviceCellsUsed", cache.device_cells_used);
  set("devicePrefixes", cache.device_prefixes);
  set("hostBytes", cache.host_bytes);
  set("hostBytesLimit", cache.host_bytes_limit);
  set("hostPrefixes", cache.host_prefixes);
  set("diskBytes", cache.disk_bytes);
  set("diskBytesLimit", cache.disk_bytes_limit);
  set("diskPrefixes", cache.disk_prefixes);
  set("graphsReused", scorer.graphs_reused);
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

Napi::Value ToError(Napi::Env env, const char* code, const std::string& message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, code));
  return error.Value();
}

}  // namespace oi
