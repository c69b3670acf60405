#include "intake.h"

#include <algorithm>
#include <utility>

namespace oi {
namespace {

// A token for 28 x 28 pixels, as many projectors have it, and for four bytes of text.
constexpr size_t kImageBytesPerTextByte = 28 * 28 * 3 / 4;

}  // namespace

size_t TextBytes(const Job& job) {
  size_t bytes = 0;
  for (const TextPart& part : job.request.prefix) {
    bytes += part.text.size();
    if (part.image) bytes += part.image->rgb.size() / kImageBytesPerTextByte;
  }
  for (const Question& question : job.request.questions) {
    for (const TextPart& part : question.parts) bytes += part.text.size();
  }
  for (const TextPart& part : job.texts) bytes += part.text.size();
  return bytes;
}

void Intake::Push(JobPtr& job) {
  if (job->kind == Job::Kind::kClose) {
    close_ = std::move(job);
    return;
  }
  const bool scores = job->kind == Job::Kind::kScore;
  const uint32_t workspace = job->workspace;
  auto lane = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& other) {
    return other.scores == scores && other.workspace == workspace;
  });
  if (lane != lanes_.end()) {
    lane->jobs.push_back(std::move(job));
    return;
  }
  std::list<Lane> added(1);
  added.front().scores = scores;
  added.front().workspace = workspace;
  added.front().jobs.push_back(std::move(job));
  lanes_.splice(lane, added);
}

Intake::JobPtr Intake::Next() {
  if (lanes_.empty()) return nullptr;
  const auto lane = lanes_.begin();
  JobPtr job = std::move(lane->jobs.front());
  lane->jobs.pop_front();
  if (lane->jobs.empty()) {
    lanes_.erase(lane);
  } else {
    lanes_.splice(lanes_.end(), lanes_, lane);
  }
  return job;
}

Intake::JobPtr Intake::Close() { return lanes_.empty() ? std::move(close_) : nullptr; }

Intake::JobPtr Intake::Take(uint32_t id) {
  for (auto lane = lanes_.begin(); lane != lanes_.end(); ++lane) {
    const auto found = std::find_if(lane->jobs.begin(), lane->jobs.end(), [id](const JobPtr& job) {
      return job->id == id && job->kind != Job::Kind::kOpen;
    });
    if (found == lane->jobs.end()) continue;
    JobPtr job = std::move(*found);
    lane->jobs.erase(found);
    if (lane->jobs.empty()) lanes_.erase(lane);
    return job;
  }
  return nullptr;
}

}  // namespace oi
