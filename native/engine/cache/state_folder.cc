#include "state_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "../error.h"

namespace oi {
namespace {

constexpr mode_t kOwn = S_IRWXU;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
constexpr mode_t kWritable = S_IWGRP | S_IWOTH;
// A read or write that is larger may be cut by the system.
constexpr size_t kMostAtOnce = 1 << 30;

StateTime TimeOf(const struct stat& facts) {
#ifdef __APPLE__
  const timespec time = facts.st_mtimespec;
#else
  const timespec time = facts.st_mtim;
#endif
  const auto since = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  return StateTime(std::chrono::duration_cast<StateTime::duration>(since));
}

}  // namespace

// ---- a file ----------------------------------------------------------------------

bool StateStream::Read(void* bytes, size_t size) {
  auto* at = static_cast<uint8_t*>(bytes);
  while (size > 0) {
    const ssize_t count = read(fd_, at, std::min(size, kMostAtOnce));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

bool StateStream::Write(const void* bytes, size_t size) {
  const auto* at = static_cast<const uint8_t*>(bytes);
  while (size > 0) {
    const ssize_t count = write(fd_, at, std::min(size, kMostAtOnce));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

void StateStream::SetTime(StateTime time) {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  timespec moment{};
  moment.tv_sec = static_cast<time_t>(seconds.count());
  moment.tv_nsec = static_cast<long>((since - seconds).count());
  const timespec both[2] = {moment, moment};
  futimens(fd_, both);  // or not: it is then used as a younger one
}

bool StateStream::Close() {
  const int fd = std::exchange(fd_, -1);
  return fd < 0 || close(fd) == 0;
}

// ---- the folder ------------------------------------------------------------------

void StateFolder::Refuse(const std::string& why) const {
  throw EngineError("ERR_INVALID_ARGUMENT", "diskCacheDir: " + path_ + ": " + why);
}

StateFolder::StateFolder(std::string path) : path_(std::move(path)) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const fs::path parent = fs::path(path_).parent_path(); !parent.empty()) {
    fs::create_directories(parent, error);  // a failure shows below
  }
  if (mkdir(path_.c_str(), kOwn) != 0 && errno != EEXIST) Refuse(std::strerror(errno));
  fd_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd_ < 0) {
    const int reason = errno;
    const bool other = reason == ELOOP || reason == ENOTDIR || reason == EMLINK;
    Refuse(other ? "expected a folder, and no link to one" : std::strerror(reason));
  }
  struct stat facts {};
  std::string why;
  if (fstat(fd_, &facts) != 0) {
    why = std::strerror(errno);
  } else if (facts.st_uid != geteuid()) {
    why = "belongs to another user (" + std::to_string(facts.st_uid) +
          "), who could put states there";
  } else if ((facts.st_mode & kOthers) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%o", static_cast<unsigned>(facts.st_mode & 07777));
    why = "others may enter it (mode " + std::string(mode) +
          "): name a folder that is not there yet, or make it chmod 700 if nobody else wrote to it";
  } else if (faccessat(fd_, ".", W_OK | X_OK, AT_EACCESS) != 0) {
    why = "cannot be written";
  }
  if (why.empty()) return;
  close(fd_);
  Refuse(why);
}

StateFolder::~StateFolder() { close(fd_); }

std::optional<StateStream> StateFolder::Open(const std::string& name, Facts& found) const {
  // Not blocking: it may be a pipe.
  const int fd = openat(fd_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  StateStream stream(fd);
  struct stat facts {};
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  if (facts.st_uid != geteuid() || (facts.st_mode & kWritable) != 0) return std::nullopt;
  found = {static_cast<uint64_t>(facts.st_size), TimeOf(facts)};
  return stream;
}

std::optional<StateStream> StateFolder::Create(const std::string& name) const {
  Remove(name);
  const int fd = openat(fd_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        S_IRUSR | S_IWUSR);
  if (fd < 0) return std::nullopt;
  return StateStream(fd);
}

bool StateFolder::Rename(const std::string& from, const std::string& to) const {
  return renameat(fd_, from.c_str(), fd_, to.c_str()) == 0;
}

void StateFolder::Remove(const std::string& name) const noexcept { unlinkat(fd_, name.c_str(), 0); }

void StateFolder::ForEach(const std::function<void(const std::string& name)>& use) const {
  const int fd = openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) Refuse(std::strerror(errno));
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(fdopendir(fd), &closedir);
  if (!folder) {
    close(fd);
    Refuse("cannot be listed");
  }
  while (const dirent* entry = readdir(folder.get())) {
    struct stat facts {};
    if (fstatat(fd, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(facts.st_mode)) use(entry->d_name);
  }
}

}  // namespace oi
