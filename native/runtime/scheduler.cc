#include "scheduler.h"

#include <algorithm>

#include "job.h"

namespace oi {
namespace {

// The oldest entry's share of its workspace's tokens; and once it is overdue.
constexpr double kOldestShare = 0.25;
constexpr double kOverdueShare = 0.75;
// With more workspaces, the counters of those without jobs are forgotten.
constexpr size_t kRemembered = 4096;

}  // namespace

double OldestShare(const Job& oldest, double overdue_ms) {
  return MillisecondsSince(oldest.accepted) > overdue_ms ? kOverdueShare : kOldestShare;
}

void Scheduler::Add(Job* job, double tokens) {
  if (size_ == 0) {
    workspaces_.clear();  // there is nobody to compare with
  } else if (workspaces_.size() > kRemembered) {
    std::erase_if(workspaces_, [](const auto& item) { return item.second.entries.empty(); });
  }
  Workspace& workspace = workspaces_[job->workspace];
  if (workspace.entries.empty()) {
    bool first = true;
    double lowest = 0;
    for (const auto& [id, other] : workspaces_) {
      if (other.entries.empty()) continue;
      lowest = first ? other.served : std::min(lowest, other.served);
      first = false;
    }
    workspace.served = first ? workspace.served : std::max(workspace.served, lowest - burst_);
    workspace.owed = 0;
  }
  workspace.entries.push_back({job, ++arrivals_, tokens});
  ++size_;
}

void Scheduler::Remove(Job* job) noexcept {
  const auto workspace = workspaces_.find(job->workspace);
  if (workspace == workspaces_.end()) return;
  std::vector<Entry>& entries = workspace->second.entries;
  const auto entry = Find(job);
  if (entry == entries.end()) return;
  entries.erase(entry);
  --size_;
}

void Scheduler::Update(Job* job, double tokens) { Find(job)->tokens = tokens; }

std::vector<Scheduler::Entry>::iterator Scheduler::Find(Job* job) {
  std::vector<Entry>& entries = workspaces_[job->workspace].entries;
  return std::find_if(entries.begin(), entries.end(),
                      [job](const Entry& entry) { return entry.job == job; });
}

// The entry that has the workspace's next turn, if any has not had one in this step.
Scheduler::Entry* Scheduler::Best(Workspace& workspace) {
  Entry* best = nullptr;
  for (Entry& entry : workspace.entries) {
    if (entry.step == step_) continue;
    if (&entry == &workspace.entries.front() && workspace.owed > 0) return &entry;
    if (best == nullptr || entry.tokens < best->tokens) best = &entry;
  }
  return best;
}

Job* Scheduler::Next() {
  Workspace* lowest = nullptr;
  Entry* next = nullptr;
  for (auto& [id, workspace] : workspaces_) {
    if (lowest != nullptr && workspace.served >= lowest->served) continue;
    if (Entry* best = Best(workspace)) {
      lowest = &workspace;
      next = best;
    }
  }
  return next == nullptr ? nullptr : next->job;
}

bool Scheduler::Expecting() const {
  const auto present = std::count_if(workspaces_.begin(), workspaces_.end(),
                                     [](const auto& item) { return !item.second.entries.empty(); });
  return present == 1 && step_ - shared_step_ < kLately;
}

bool Scheduler::HasMore(uint32_t workspace) { return Best(workspaces_[workspace]) != nullptr; }

void Scheduler::Charge(Job* job, size_t tokens) {
  Workspace& workspace = workspaces_[job->workspace];
  Entry& entry = *Find(job);
  entry.step = step_;
  if (last_workspace_ && *last_workspace_ != job->workspace) shared_step_ = step_;
  last_workspace_ = job->workspace;
  const auto count = static_cast<double>(tokens);
  const double share = OldestShare(*workspace.entries.front().job, overdue_ms_);
  workspace.served += count;
  if (&entry != &workspace.entries.front()) {
    workspace.owed += count * share;
  } else if (workspace.owed > 0) {
    // Below zero, as a turn takes more than is owed. A turn that the oldest had for being the
    // shortest too is not counted against it.
    workspace.owed -= count * (1 - share);
  }
}

}  // namespace oi
