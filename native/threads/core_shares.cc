#include "core_shares.h"

#include <algorithm>

#include "../machine/cores.h"

namespace oi {
namespace {

// An engine under load is between two graphs for less than this; taking its cores for that long
// would make it wait for a whole graph of the other.
constexpr auto kPause = std::chrono::milliseconds(20);

}  // namespace

CoreShares& CoreShares::Process() {
  static CoreShares shares(AvailableCores());
  return shares;
}

CoreShares::Claim::Claim(CoreShares& shares) : shares_(shares) {
  const std::lock_guard lock(shares_.mutex_);
  shares_.claims_.push_back(this);
}

CoreShares::Claim::~Claim() {
  const std::lock_guard lock(shares_.mutex_);
  std::erase(shares_.claims_, this);
}

bool CoreShares::Claim::Busy(Clock::time_point now) const {
  return most_ > 0 && (computes_ || now - end_ < kPause);
}

uint32_t CoreShares::Claim::Take(uint32_t most, Clock::time_point now) {
  const std::lock_guard lock(shares_.mutex_);
  most_ = most;
  computes_ = true;
  const auto busy =
      static_cast<uint32_t>(std::count_if(shares_.claims_.begin(), shares_.claims_.end(),
                                          [now](const Claim* claim) { return claim->Busy(now); }));
  if (busy == 1) return most;
  const uint32_t part = std::max(1u, shares_.cores_ / busy);
  uint32_t others = 0;
  for (const Claim* claim : shares_.claims_) {
    if (claim != this && claim->Busy(now)) others += std::min(claim->most_, part);
  }
  const uint32_t left = shares_.cores_ > others ? shares_.cores_ - others : 1;
  return std::clamp(left, 1u, most);
}

void CoreShares::Claim::Return(Clock::time_point now) {
  const std::lock_guard lock(shares_.mutex_);
  computes_ = false;
  end_ = now;
}

}  // namespace oi
