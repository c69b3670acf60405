// Prefixes that left the RAM, or outlived the process, as files in a folder.
//
// The folder belongs to one model, build and cache type: whoever chooses its name sees to that.
// A file carries a checksum; one that is damaged is deleted and counts as absent. Files are
// written by a thread of the tier's own, so that no step waits for a disk; when it cannot keep
// up, states are dropped instead.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "saved_state.h"

namespace oi {

class DiskTier {
 public:
  using State = std::shared_ptr<const SavedState>;

  // Makes the folder and reads what lies in it; what is over the limit goes. Throws EngineError
  // ERR_INVALID_ARGUMENT if the folder cannot be written.
  DiskTier(std::string folder, uint64_t limit, Reuse reuse);
  // Drops what is not written yet; Flush() before to keep it.
  ~DiskTier();

  DiskTier(const DiskTier&) = delete;
  DiskTier& operator=(const DiskTier&) = delete;

  // What saves the most tokens of `wanted`: a name for Read(), the tokens, and the bytes that
  // have to be read.
  struct Match {
    std::string name;
    size_t tokens = 0;
    uint64_t bytes = 0;
  };
  Match Find(const std::vector<Token>& wanted) const;

  // True if they are written, or about to be.
  bool Holds(const std::vector<Token>& tokens) const;

  // Null if the file is gone or damaged.
  State Read(const std::string& name);

  // Writes it some time later. With `wait`, waits for its turn instead of dropping it.
  void Put(State state, bool wait);
  // Waits until all is written.
  void Flush();

  // Bytes per second of the last reads; a cautious guess before the first.
  double read_rate() const { return read_rate_; }
  uint64_t bytes() const;
  uint64_t limit() const { return limit_; }
  size_t size() const;

 private:
  struct File {
    std::string name;
    std::vector<Token> tokens;
    uint64_t bytes = 0;
  };

  void WriterMain();
  bool Write(const SavedState& state, const std::string& name) const;
  void Scan();
  void Forget(const std::string& name);
  bool Has(const std::vector<Token>& tokens) const;
  std::string Path(const std::string& name) const;

  const std::string folder_;
  const uint64_t limit_;
  const Reuse reuse_;
  double read_rate_ = 300e6;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable written_;
  std::deque<State> waiting_;  // guarded by mutex_
  std::string writing_;        // guarded by mutex_: the name of the one being written, or ""
  bool stop_ = false;          // guarded by mutex_
  std::list<File> files_;      // guarded by mutex_; the most recently used first
  uint64_t bytes_ = 0;         // guarded by mutex_
  std::thread writer_;
};

}  // namespace oi
