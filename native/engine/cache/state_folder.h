// The folder of states on disk: what is in it can be read by its user alone, as it tells what was
// asked, and nobody else can put a state there.
//
// Rules
//   1. It belongs to this process' user, is no link, and only that user may enter it. Any other is
//      refused and left as it is: what lies in it cannot be trusted, and it may be of use to
//      others.
//   2. It is opened once: another folder that is put in its place later is not used.
//   3. Files are opened without following links, and those of other users, or that others may
//      write to, are not read.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace oi {

using StateTime = std::chrono::system_clock::time_point;

// An open file. All of what is asked is read or written, or the answer is false.
class StateStream {
 public:
  explicit StateStream(int fd) : fd_(fd) {}
  StateStream(StateStream&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  StateStream& operator=(StateStream&&) = delete;
  ~StateStream() { Close(); }

  bool Read(void* bytes, size_t size);
  bool Write(const void* bytes, size_t size);
  // Sets the time at which it was last used.
  void SetTime(StateTime time);
  // False if what was written may not be there.
  bool Close();

 private:
  int fd_;
};

class StateFolder {
 public:
  // Makes the folder where there is none. Throws EngineError ERR_INVALID_ARGUMENT naming it if it
  // cannot be used (rule 1).
  explicit StateFolder(std::string path);
  ~StateFolder();

  StateFolder(const StateFolder&) = delete;
  StateFolder& operator=(const StateFolder&) = delete;

  struct Facts {
    uint64_t bytes = 0;
    StateTime used;
  };
  // Nothing if there is no such file, or it is not to be read (rule 3).
  std::optional<StateStream> Open(const std::string& name, Facts& facts) const;
  // A new file, in place of one of that name.
  std::optional<StateStream> Create(const std::string& name) const;
  bool Rename(const std::string& from, const std::string& to) const;
  void Remove(const std::string& name) const noexcept;
  // The names of its regular files.
  void ForEach(const std::function<void(const std::string& name)>& use) const;

 private:
  [[noreturn]] void Refuse(const std::string& why) const;

  const std::string path_;
  int fd_ = -1;
};

}  // namespace oi
