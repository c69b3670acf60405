#include "messages.h"

#include <utility>
#include <vector>

#include "../runtime/assemble.h"
#include "connection.h"
#include "fields.h"

namespace oi {
namespace {

// A frame whose fields are written while it is in scope.
class Reply {
 public:
  Reply(std::string& out, ReplyKind kind, uint32_t id)
      : out_(out), begin_(BeginFrame(out, static_cast<uint32_t>(kind), id)), fields_(out) {}
  ~Reply() { EndFrame(out_, begin_); }

  FieldWriter* operator->() { return &fields_; }

 private:
  std::string& out_;
  const size_t begin_;
  FieldWriter fields_;
};

// Reads texts and their kinds.
std::span<const uint8_t> ReadParts(FieldReader& fields, std::vector<TextPart>& parts) {
  fields.List([&] { parts.push_back({fields.Text(), false, nullptr}); });
  const std::span<const uint8_t> kinds = fields.Bytes();
  if (kinds.size() != parts.size()) throw ProtocolError("Not every text has a kind");
  for (size_t i = 0; i < parts.size(); ++i) parts[i].trusted = kinds[i] == 1;
  return kinds;
}

void AddTimes(Reply& reply, const Job& job) {
  for (const double ms : {job.queue_ms, job.tokenize_ms, job.vision_ms, job.model_ms}) {
    reply->Double(ms);
  }
}

void AddResult(std::string& out, const Job& job) {
  const ScoreResult& result = job.task->result;
  Reply reply(out, ReplyKind::kResult, job.id);
  reply->Numbers(result.logits);
  reply->Numbers(result.ranks);
  for (const size_t tokens : {result.prefix_tokens, result.image_tokens, result.suffix_tokens,
                              result.cached_tokens, result.evaluated_tokens}) {
    reply->Double(static_cast<double>(tokens));
  }
  AddTimes(reply, job);
}

void AddFailed(std::string& out, const Job& job, double retry_after_ms) {
  Reply reply(out, ReplyKind::kFailed, job.id);
  reply->Text(job.error_code);
  reply->Text(job.error_message);
  reply->Double(retry_after_ms);
  reply->Double(job.error_question);
  AddTimes(reply, job);
}

}  // namespace

void ReadScore(std::span<const uint8_t> payload, Job& job) {
  FieldReader fields(payload);
  job.workspace = fields.Unsigned();
  std::string scope = fields.Text();
  job.SetDeadline(fields.Double());
  std::vector<TextPart> parts;
  const std::span<const uint8_t> kinds = ReadParts(fields, parts);
  const std::vector<int32_t> shape = fields.Integers();
  const std::vector<int32_t> candidates = fields.Integers();
  const std::vector<int32_t> sizes = fields.Integers();
  std::vector<std::span<const uint8_t>> images;
  fields.List([&] { images.push_back(fields.Bytes()); });
  fields.End();
  try {
    AddImages(kinds, images, sizes, parts);
    job.request = Assemble(std::move(parts), shape, candidates);
    job.request.scope = std::move(scope);
  } catch (const MalformedRequest& error) {
    throw ProtocolError(error.what());
  }
}

void ReadTokenize(std::span<const uint8_t> payload, Job& job) {
  FieldReader fields(payload);
  ReadParts(fields, job.texts);
  fields.End();
}

std::string ReadCount(std::span<const uint8_t> payload) {
  FieldReader fields(payload);
  std::string text = fields.Text();
  fields.End();
  return text;
}

void AddSignal(std::string& out, ReplyKind kind, uint32_t id) { Reply(out, kind, id); }

void AddProgress(std::string& out, float fraction) {
  Reply(out, ReplyKind::kProgress, 0)->Double(fraction);
}

void AddStats(std::string& out, const EngineStats& stats) {
  Reply reply(out, ReplyKind::kStats, 0);
  ForEachStat(stats, [&](const char*, double value) { reply->Double(value); });
}

void AddCounted(std::string& out, uint32_t id, size_t count) {
  Reply(out, ReplyKind::kCounted, id)->Unsigned(static_cast<uint32_t>(count));
}

void AddRefused(std::string& out, uint32_t id, const char* code, const std::string& message,
                double retry_after_ms) {
  Job job(Job::Kind::kScore, id);
  job.SetError(code, message);
  AddFailed(out, job, retry_after_ms);
}

void AddReply(std::string& out, const Job& job) {
  if (job.error_code != nullptr) {
    AddFailed(out, job, 0);
  } else if (job.kind == Job::Kind::kScore) {
    AddResult(out, job);
  } else if (job.kind == Job::Kind::kClose) {
    AddSignal(out, ReplyKind::kClosed, job.id);
  } else if (job.count_only) {
    AddCounted(out, job.id, job.counts.empty() ? 0 : job.counts.front());
  } else {
    Reply reply(out, ReplyKind::kTokens, job.id);
    reply->Unsigned(static_cast<uint32_t>(job.tokens.size()));
    for (const std::vector<Token>& tokens : job.tokens) reply->Numbers(tokens);
  }
}

}  // namespace oi
