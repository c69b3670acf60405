#include "temporary_file.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace oi {
namespace {

// What a signal handler may read: the paths of the living files.
std::atomic<const char*> living[2];

void RemoveAndExit(int signal) {
  for (const auto& path : living) {
    if (const char* name = path.load()) unlink(name);
  }
  _exit(128 + signal);
}

void Register(const char* path) {
  const char* empty = nullptr;
  if (!living[0].compare_exchange_strong(empty, path)) living[1] = path;
  signal(SIGINT, RemoveAndExit);
  signal(SIGTERM, RemoveAndExit);
  signal(SIGHUP, RemoveAndExit);
}

void Unregister(const char* path) {
  for (auto& slot : living) {
    const char* expected = path;
    slot.compare_exchange_strong(expected, nullptr);
  }
}

}  // namespace

TemporaryFile::TemporaryFile(std::string target, const std::string& suffix)
    : target_(std::move(target)), path_(target_ + ".tmp-" + std::to_string(getpid()) + suffix) {
  // A rename would replace a device or a socket as readily as a file.
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(target_, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw std::runtime_error("Cannot write " + target_ +
                             ": it is there and not a regular file; give another path");
  }
  FILE* file = std::fopen(path_.c_str(), "wb");
  if (!file) {
    throw std::runtime_error("Cannot write " + target_ + ": " + std::strerror(errno) +
                             "; give a path in a folder that exists and is writable");
  }
  std::fclose(file);
  Register(path_.c_str());
}

TemporaryFile::~TemporaryFile() {
  Unregister(path_.c_str());
  unlink(path_.c_str());
}

void TemporaryFile::Commit() {
  if (std::rename(path_.c_str(), target_.c_str()) != 0) {
    throw std::runtime_error("Cannot write " + target_ + ": " + std::strerror(errno));
  }
}

}  // namespace oi
