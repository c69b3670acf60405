// The tiers outside the context: RAM, and a folder on disk. A state that is evicted from RAM is
// written to disk.

#pragma once

#include <memory>

#include "../stats.h"
#include "disk_tier.h"
#include "host_tier.h"
#include "saved_state.h"

namespace oi {

class OuterTiers {
 public:
  // `folder` is "" for none.
  OuterTiers(uint64_t host_bytes, const std::string& folder, uint64_t disk_bytes, Reuse reuse)
      : disk_(folder.empty() ? nullptr : std::make_unique<DiskTier>(folder, disk_bytes, reuse)),
        host_(host_bytes, reuse, [this](HostTier::State state, StateTime used) {
          PutOnDisk(std::move(state), used);
        }) {}

  OuterTiers(const OuterTiers&) = delete;
  OuterTiers& operator=(const OuterTiers&) = delete;

  struct Match {
    HostTier::State state;  // null if nothing is worth copying
    size_t tokens = 0;      // that it saves
    Tier tier = Tier::kNone;
    std::string name = {};  // of the file, on the disk
    // It is being read from the disk: to be asked for again.
    bool pending = false;
  };

  // The state that saves clearly more tokens than the `resident` ones in the context. The disk
  // is read only where that is faster than evaluating, at `token_seconds` each.
  Match Find(const Wanted& wanted, size_t resident, double token_seconds) {
    const HostTier::Match host = host_.Find(wanted);
    const size_t in_memory = std::max(resident, host.tokens);
    if (disk_) {
      const DiskTier::Match disk = disk_->Find(wanted);
      const auto saved = static_cast<double>(disk.tokens) - static_cast<double>(in_memory);
      const double read_seconds = static_cast<double>(disk.bytes) / disk_->read_rate();
      if (saved > kWorthCopying && read_seconds < saved * token_seconds) {
        DiskTier::Reading reading = disk_->Read(disk.name);
        if (reading.pending) return {.state = nullptr, .pending = true};
        if (reading.state) return {std::move(reading.state), disk.tokens, Tier::kDisk, disk.name};
      }
    }
    if (host.tokens > resident + kWorthCopying) {
      host_.Touch(host.state);
      return {host.state, host.tokens, Tier::kHost};
    }
    return {};
  }

  // Tokens that the host tier would save.
  size_t Expect(const Wanted& wanted) const { return host_.Find(wanted).tokens; }

  // The match is in the context now.
  void Taken(const Match& match) {
    if (match.tier == Tier::kDisk) disk_->Taken(match.name);
  }
  // llama.cpp does not take it.
  void Refuse(const Match& match) {
    if (match.tier == Tier::kDisk) disk_->Refuse(match.name);
    host_.ForgetIf([&](const SavedState& state) { return &state == match.state.get(); });
  }
  // What state_cache.h, rule 6, wants.
  void ForgetUnproved() {
    host_.ForgetIf([](const SavedState& state) { return !state.proved; });
  }
  // Waits a moment for the disk. False if nothing is read from it.
  bool AwaitRead() { return disk_ && disk_->AwaitRead(); }

  // True if that state, of so many bytes, would be new, and kept.
  bool Wants(const Wanted& state, uint64_t bytes, bool proved) const {
    if (host_.Fits(bytes)) return !host_.Holds(state, proved);
    return disk_ && proved && bytes <= disk_->limit() && !disk_->Holds(state);
  }
  void Put(HostTier::State state) {
    if (host_.Fits(state->bytes())) {
      host_.Put(std::move(state));
    } else {
      PutOnDisk(std::move(state), StateTime::clock::now());
    }
  }

  bool persistent() const { return disk_ != nullptr; }
  // Moves everything to the disk, and waits until it is there.
  void Flush() {
    flushing_ = true;
    host_.Flush();
    flushing_ = false;
    if (disk_) disk_->Flush();
  }

  void AddTo(CacheStats& stats) const {
    stats.host_bytes = host_.bytes();
    stats.host_bytes_limit = host_.limit();
    stats.host_prefixes = host_.size();
    if (!disk_) return;
    stats.disk_bytes = disk_->bytes();
    stats.disk_bytes_limit = disk_->limit();
    stats.disk_prefixes = disk_->size();
  }

 private:
  void PutOnDisk(HostTier::State state, StateTime used) {
    if (disk_ && state->proved) disk_->Put(std::move(state), used, flushing_);
  }

  // Copying costs a pass over the context: not for a few tokens.
  static constexpr size_t kWorthCopying = 16;

  std::unique_ptr<DiskTier> disk_;
  bool flushing_ = false;
  HostTier host_;
};

}  // namespace oi
