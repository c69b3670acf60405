#include "core_shares.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>

#include "../machine/cores.h"

namespace oi {
namespace {

// An engine under load is between two graphs for less than this; taking its cores for that long
// would make it wait for a whole graph of the other.
constexpr std::chrono::nanoseconds kPause = std::chrono::milliseconds(20);
constexpr int64_t kComputes = std::numeric_limits<int64_t>::max();

int64_t Nanoseconds(CoreShares::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

uint32_t OwnProcess() { return static_cast<uint32_t>(getpid()); }

bool Lives(uint32_t process) { return kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH; }

CoreShares::Table* SharedTable() {
  const char* name = std::getenv("OI_CORE_SHARES_FD");
  if (name == nullptr) return nullptr;
  const int file = std::atoi(name);
  struct stat facts {};
  // Behind the end of a file there is no memory.
  if (fstat(file, &facts) != 0 || facts.st_size != sizeof(CoreShares::Table)) return nullptr;
  void* table =
      mmap(nullptr, sizeof(CoreShares::Table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return table == MAP_FAILED ? nullptr : static_cast<CoreShares::Table*>(table);
}

}  // namespace

CoreShares& CoreShares::Process() {
  static CoreShares shares(AvailableCores(), SharedTable());
  return shares;
}

CoreShares::Claim::Claim(CoreShares& shares) : shares_(shares) {
  auto& [used, places] = shares.table_;
  for (uint32_t i = 0; i < places.size(); ++i) {
    uint32_t nobody = 0;
    if (!places[i].owner.compare_exchange_strong(nobody, OwnProcess())) continue;
    place_ = &places[i];
    place_->most = 0;
    uint32_t known = used;
    while (known <= i && !used.compare_exchange_weak(known, i + 1)) {
    }
    return;
  }
}

CoreShares::Claim::~Claim() {
  if (place_ != nullptr) place_->owner = 0;
}

uint32_t CoreShares::Claim::Take(uint32_t most, Clock::time_point now) {
  if (place_ != nullptr) {
    place_->most = most;
    place_->busy_ns = kComputes;
  }
  const int64_t now_ns = Nanoseconds(now);
  std::array<uint32_t, std::tuple_size_v<decltype(Table::places)>> wanted;
  uint32_t others = 0;
  for (uint32_t i = 0; i < shares_.table_.used; ++i) {
    Place& place = shares_.table_.places[i];
    uint32_t owner = place.owner;
    const uint32_t wants = place.most;
    const int64_t busy_ns = place.busy_ns;
    if (&place == place_ || owner == 0 || wants == 0 || busy_ns <= now_ns) continue;
    // What ended in the middle of a graph would have its part for ever.
    if (busy_ns == kComputes && !Lives(owner)) {
      place.owner.compare_exchange_strong(owner, 0);
      continue;
    }
    wanted[others++] = wants;
  }
  if (others == 0) return most;
  const uint32_t part = std::max(1u, shares_.cores_ / (others + 1));
  uint32_t taken = 0;
  for (uint32_t i = 0; i < others; ++i) taken += std::min(wanted[i], part);
  const uint32_t left = shares_.cores_ > taken ? shares_.cores_ - taken : 1;
  return std::clamp(left, 1u, most);
}

void CoreShares::Claim::Return(Clock::time_point now) {
  if (place_ != nullptr) place_->busy_ns = Nanoseconds(now + kPause);
}

}  // namespace oi
