// A file that appears under its name only when it is whole: written under another name in
// the same folder, renamed by Commit(), and removed if that never happens, also when the
// process is interrupted or terminated.

#pragma once

#include <string>

namespace oi {

class TemporaryFile {
 public:
  // At most two may exist at a time. Throws std::runtime_error if the folder of `target`
  // cannot be written to.
  TemporaryFile(std::string target, const std::string& suffix);
  ~TemporaryFile();

  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

  // Throws std::runtime_error.
  void Commit();

 private:
  const std::string target_;
  const std::string path_;
};

}  // namespace oi
