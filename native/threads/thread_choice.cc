#include "thread_choice.h"

#include <algorithm>
#include <cmath>

namespace oi {
namespace {

// A window lasts a few slices of the system's scheduler, so that one lost slice does not decide.
constexpr double kWindowMs = 30;
// Time over which the share of sleep is smoothed.
constexpr double kSleepMs = 100;
// Two threads that sleep less than this at the barrier are faster than one, whatever else runs.
constexpr double kContendedShare = 0.15;
// A number of threads that is tried must be faster by this factor.
constexpr double kGain = 1.05;
// Windows between trials: after a change, and at most when the tried number keeps losing. A trial
// of more threads can cost its whole time, and is the only way to learn that others have gone.
constexpr double kFirstRest = 8;
constexpr double kLongestRestBelow = 64;
constexpr double kLongestRestAbove = 16;
constexpr double kLongestRestMs = 20'000;
// Over which the rate of a number is smoothed; of one that is tried, whose windows are few, a new
// one counts half at least.
constexpr double kRateMs = 100;
constexpr double kLeastTriedShare = 0.5;

}  // namespace

ThreadChoice::ThreadChoice(uint32_t most) {
  for (uint32_t level = std::max(1u, most);; level -= std::max(1u, level / 4)) {
    levels_.push_back(level);
    if (level == 1) break;
  }
  Forget();
}

// What was learned, with others on the cores. The first trial comes at once.
void ThreadChoice::Forget() {
  rates_.assign(levels_.size(), 0);
  lasted_ms_.assign(levels_.size(), 0);
  window_ = {};
  rested_ms_ = 0;
  rest_ms_ = 0;
  patience_ = kFirstRest;
  trials_ = 0;
}

bool ThreadChoice::contended() const { return slept_share_ > kContendedShare; }

void ThreadChoice::Done(const GraphRun& run) {
  const bool measured = measures();
  if (!measured && rates_[at_] > 0) Forget();
  if (run.threads > 1 && run.ms > 0) {
    const double weight = 1 - std::exp(-run.ms / kSleepMs);
    slept_share_ += weight * (run.slept_ms / run.ms - slept_share_);
  }
  // Another engine of this process had a part of the cores: that says nothing of this number.
  if (!measured || run.threads != threads()) return;
  window_.cost += run.cost;
  window_.ms += run.ms;
  if (window_.ms >= kWindowMs) EndWindow();
}

void ThreadChoice::EndWindow() {
  const double rate = window_.cost / window_.ms;
  const double ms = window_.ms;
  window_ = {};
  lasted_ms_[trying_.value_or(at_)] = ms;
  double& known = rates_[trying_.value_or(at_)];
  const double smooth = 1 - std::exp(-ms / kRateMs);
  const double share = known == 0 ? 1 : trying_ ? std::max(kLeastTriedShare, smooth) : smooth;
  known += share * (rate - known);
  if (trying_) return EndTrial(ms);
  rested_ms_ += ms;
  if (rested_ms_ >= rest_ms_) trying_ = NextTrial();
}

void ThreadChoice::EndTrial(double window_ms) {
  const size_t tried = *trying_;
  trying_.reset();
  if (rates_[tried] > kGain * rates_[at_]) {
    at_ = tried;
    patience_ = kFirstRest;
  } else {
    patience_ = std::min(2 * patience_, tried > at_ ? kLongestRestBelow : kLongestRestAbove);
  }
  rested_ms_ = 0;
  // A window is a whole graph at least, and one of more threads may last many times as long.
  const double longest = *std::max_element(lasted_ms_.begin(), lasted_ms_.end());
  rest_ms_ = std::min(kLongestRestMs, patience_ * std::max(window_ms, longest));
}

// Tries in turn the next more, the next fewer, and as many as are awake on average.
std::optional<size_t> ThreadChoice::NextTrial() {
  const auto awake = static_cast<double>(levels_[at_]) * (1 - slept_share_);
  size_t of_awake = at_;
  while (of_awake + 1 < levels_.size() && levels_[of_awake] > awake) ++of_awake;
  for (int i = 0; i < 3; ++i) {
    const size_t turn = trials_++ % 3;
    if (turn == 0 && contended() && of_awake > at_) return of_awake;
    if (turn == 1 && at_ > 0) return at_ - 1;
    if (turn == 2 && contended() && at_ + 1 < levels_.size()) return at_ + 1;
  }
  return std::nullopt;
}

}  // namespace oi
