// The tiers outside the context: RAM, and a folder on disk. What leaves the one for lack of
// room goes to the other.

#pragma once

#include <memory>

#include "disk_tier.h"
#include "host_tier.h"
#include "saved_state.h"
#include "stats.h"

namespace oi {

class OuterTiers {
 public:
  // `folder` is "" for none.
  OuterTiers(uint64_t host_bytes, const std::string& folder, uint64_t disk_bytes, Reuse reuse)
      : disk_(folder.empty() ? nullptr : std::make_unique<DiskTier>(folder, disk_bytes, reuse)),
        host_(host_bytes, reuse, [this](HostTier::State state) {
          if (disk_) disk_->Put(std::move(state), flushing_);
        }) {}

  OuterTiers(const OuterTiers&) = delete;
  OuterTiers& operator=(const OuterTiers&) = delete;

  struct Match {
    HostTier::State state;  // null if nothing is worth copying
    size_t tokens = 0;      // that it saves
    Tier tier = Tier::kNone;
  };

  // The state that saves clearly more tokens than the `resident` ones in the context. The disk
  // is read only where that is faster than evaluating, at `token_seconds` each.
  Match Find(const std::vector<Token>& tokens, size_t resident, double token_seconds) {
    const HostTier::Match host = host_.Find(tokens);
    const size_t in_memory = std::max(resident, host.tokens);
    if (disk_) {
      const DiskTier::Match disk = disk_->Find(tokens);
      const auto saved = static_cast<double>(disk.tokens) - static_cast<double>(in_memory);
      const double read_seconds = static_cast<double>(disk.bytes) / disk_->read_rate();
      if (saved > kWorthCopying && read_seconds < saved * token_seconds) {
        if (DiskTier::State state = disk_->Read(disk.name)) {
          return {std::move(state), disk.tokens, Tier::kDisk};
        }
      }
    }
    if (host.tokens > resident + kWorthCopying) {
      host_.Touch(host.state);
      return {host.state, host.tokens, Tier::kHost};
    }
    return {};
  }

  // Tokens that the host tier would save.
  size_t Expect(const std::vector<Token>& tokens) const { return host_.Find(tokens).tokens; }

  // True if a state of these tokens and bytes would be new, and kept.
  bool Wants(const std::vector<Token>& tokens, uint64_t bytes) const {
    if (host_.Fits(bytes)) return !host_.Holds(tokens);
    return disk_ && bytes <= disk_->limit() && !disk_->Holds(tokens);
  }
  void Put(HostTier::State state) {
    if (host_.Fits(state->bytes())) {
      host_.Put(std::move(state));
    } else if (disk_) {
      disk_->Put(std::move(state), flushing_);
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
  // Copying costs a pass over the context: not for a few tokens.
  static constexpr size_t kWorthCopying = 16;

  std::unique_ptr<DiskTier> disk_;
  bool flushing_ = false;
  HostTier host_;
};

}  // namespace oi
