// Prefixes as files in a folder: those evicted from RAM, also by earlier processes.
//
// The folder belongs to one model, build and cache type: whoever chooses its name sees to that.
//
// Rules
//   1. Threads of the tier's own read, write and delete, so that neither a step nor a lookup waits
//      for a disk. When the writer cannot keep up, states are dropped.
//   2. A state that was read stays in memory until it is taken or refused, so a task that waits for
//      cells does not read it again. The number of such states is bounded; further reads wait.
//   3. A file that is damaged, of other tokens or another scope than its name says, not to be
//      trusted (state_folder.h), or not taken by llama.cpp is deleted and counts as absent.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "saved_state.h"
#include "state_file.h"

namespace oi {

class DiskTier {
 public:
  using State = std::shared_ptr<const SavedState>;

  // Makes the folder and reads what lies in it; what is over the limit goes. Throws as StateFolder.
  DiskTier(std::string folder, uint64_t limit, Reuse reuse);
  // Drops what is not written yet; Flush() before to keep it.
  ~DiskTier();

  DiskTier(const DiskTier&) = delete;
  DiskTier& operator=(const DiskTier&) = delete;

  // What saves the most tokens of its scope: a name for Read(), the tokens, and the bytes that
  // have to be read still.
  struct Match {
    std::string name;
    size_t tokens = 0;
    uint64_t bytes = 0;
  };
  Match Find(const Wanted& wanted) const;

  // True if that state is written, or about to be.
  bool Holds(const Wanted& state) const;

  // The state, if it has been read (rule 2). Else it is being read, or will be when others have
  // been taken (`pending`); or the file is gone or damaged.
  struct Reading {
    State state;
    bool pending = false;
  };
  Reading Read(const std::string& name);
  // It has been used, and is not needed in memory any more.
  void Taken(const std::string& name);
  // Rule 3: llama.cpp does not take it.
  void Refuse(const std::string& name);
  // Waits, for a moment, while states are read. False if none are in memory or on the way.
  bool AwaitRead();

  // Writes it some time later, unless files that were used after it fill the tier. With `wait`,
  // waits for its turn instead of dropping it.
  void Put(State state, StateTime used, bool wait);
  // Waits until all is written.
  void Flush();

  // Bytes per second of the last reads; a cautious guess before the first.
  double read_rate() const { return read_rate_; }
  uint64_t bytes() const;
  uint64_t limit() const { return limit_; }
  size_t size() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Waiting {
    State state;
    std::list<StateFile> file;  // one, so that keeping it allocates nothing
  };
  struct Staged {
    StateFile file;
    Clock::time_point asked;
    State state = nullptr;
    bool done = false;
  };

  void Stop();
  void WriterMain();
  void ReaderMain();
  void Keep(std::list<StateFile> file);
  void Shrink();
  void Forget(const std::string& name);
  bool Has(const std::string& name) const;
  std::list<StateFile>::iterator FindFile(const std::string& name);
  std::list<Staged>::iterator FindStaged(const std::string& name);

  const StateFolder folder_;
  const uint64_t limit_;
  const Reuse reuse_;
  std::atomic<double> read_rate_{300e6};

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable wake_writer_;
  std::condition_variable wake_reader_;
  std::condition_variable written_;
  std::condition_variable read_;
  std::deque<Waiting> waiting_;
  const StateFile* writing_ = nullptr;  // the one being written
  std::deque<std::string> doomed_;      // names of files to delete
  std::list<Staged> staged_;            // rule 2
  bool stop_ = false;
  std::list<StateFile> files_;  // the most recently used first
  uint64_t bytes_ = 0;

  std::thread writer_;
  std::thread reader_;
};

}  // namespace oi
