#include "intake.h"

#include <algorithm>
#include <utility>

namespace oi {

void Intake::Push(JobPtr job) {
  if (job->kind == Job::Kind::kClose) {
    close_ = std::move(job);
    return;
  }
  const bool scores = job->kind == Job::Kind::kScore;
  const uint32_t workspace = job->workspace;
  auto lane = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& other) {
    return other.scores == scores && other.workspace == workspace;
  });
  if (lane == lanes_.end()) lane = lanes_.insert(lane, Lane{scores, workspace, {}});
  lane->jobs.push_back(std::move(job));
}

Intake::JobPtr Intake::Next() {
  if (lanes_.empty()) return nullptr;
  Lane lane = std::move(lanes_.front());
  lanes_.pop_front();
  JobPtr job = std::move(lane.jobs.front());
  lane.jobs.pop_front();
  if (!lane.jobs.empty()) lanes_.push_back(std::move(lane));
  return job;
}

Intake::JobPtr Intake::Close() { return lanes_.empty() ? std::move(close_) : nullptr; }

Intake::JobPtr Intake::Take(uint32_t id) {
  for (auto lane = lanes_.begin(); lane != lanes_.end(); ++lane) {
    const auto found = std::find_if(
        lane->jobs.begin(), lane->jobs.end(),
        [id](const JobPtr& job) { return job->id == id && job->kind != Job::Kind::kOpen; });
    if (found == lane->jobs.end()) continue;
    JobPtr job = std::move(*found);
    lane->jobs.erase(found);
    if (lane->jobs.empty()) lanes_.erase(lane);
    return job;
  }
  return nullptr;
}

}  // namespace oi
