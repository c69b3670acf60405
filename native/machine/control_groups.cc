#include "control_groups.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace oi {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;  // of a path

// Of folders that are searched for the process, where its path does not lead to its group.
constexpr size_t kMaxSearched = 4096;

struct Group {
  std::string folder;
  bool version2;
};

struct Mount {
  Names root;  // of what is mounted, in its hierarchy
  std::string folder;
  bool version2;
};

Names Split(const std::string& text, char by) {
  Names parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) {
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  return parts;
}

bool Has(const std::string& list, const std::string& name) {
  const Names names = Split(list, ',');
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A space in a mount's folder stands there as \040.
std::string Unescape(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      result += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

// Of version 1 with this controller, and of version 2.
std::vector<Mount> MountsOf(const std::string& root, const std::string& controller) {
  std::vector<Mount> mounts;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const Names before = Split(line.substr(0, dash), ' ');
    const Names after = Split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.empty()) continue;
    const bool version2 = after[0] == "cgroup2";
    if (!version2 && !(after[0] == "cgroup" && Has(after.back(), controller))) continue;
    mounts.push_back({Split(before[3], '/'), root + Unescape(before[4]), version2});
  }
  if (mounts.empty()) {
    // Where they are by custom.
    const std::string custom = root + "/sys/fs/cgroup";
    mounts = {{{}, custom + "/" + controller, false}, {{}, custom, true}};
  }
  return mounts;
}

// The group of the process in one hierarchy, as /proc/self/cgroup has it; the outermost if that
// does not tell.
Names PathOf(const std::string& root, const std::string& controller, bool version2) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version2 ? controllers.empty() : Has(controllers, controller)) {
      return Split(line.substr(second + 1), '/');
    }
  }
  return {};
}

// From the mount on. Nothing if the group is not below it, or if that cannot be told: seen from a
// namespace, what is above its own group begins with "..", and has no name.
std::optional<Names> Below(const Mount& mount, const Names& path) {
  const auto [rest, own] =
      std::mismatch(mount.root.begin(), mount.root.end(), path.begin(), path.end());
  if (rest != mount.root.end()) return std::nullopt;
  if (own != path.end() && *own == "..") return std::nullopt;
  return Names(own, path.end());
}

// The folder below `from` that lists the process, as names from there on.
std::optional<Names> Search(const std::string& root, const std::string& from) {
  std::string process;
  if (!(std::ifstream(root + "/proc/self/stat") >> process)) return std::nullopt;
  std::error_code ignored;
  size_t searched = 0;
  for (fs::recursive_directory_iterator it(from, ignored), end;
       it != end && searched < kMaxSearched; it.increment(ignored)) {
    if (!it->is_directory(ignored)) continue;
    ++searched;
    std::ifstream processes(it->path() / "cgroup.procs");
    for (std::string line; std::getline(processes, line);) {
      if (line == process) return Split(it->path().string().substr(from.size()), '/');
    }
  }
  return std::nullopt;
}

// The group of the process and all above it, as far as they are mounted.
std::vector<Group> GroupsOf(const std::string& root, const std::string& controller) {
  std::vector<Group> groups;
  const std::vector<Mount> mounts = MountsOf(root, controller);
  for (const bool version2 : {false, true}) {
    const Names path = PathOf(root, controller, version2);
    const Mount* chosen = nullptr;
    std::optional<Names> below;
    for (const Mount& mount : mounts) {
      if (mount.version2 != version2 || below) continue;
      chosen = &mount;
      below = Below(mount, path);
    }
    if (chosen == nullptr) continue;
    if (!below) below = Search(root, chosen->folder);
    // What is mounted is at least a group beside or above: in a container, the container's.
    std::string folder = chosen->folder;
    groups.push_back({folder, version2});
    for (const std::string& name : below.value_or(Names())) {
      folder += "/" + name;
      groups.push_back({folder, version2});
    }
  }
  return groups;
}

// "max", or a file that is not there: nothing.
std::optional<double> Number(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// The sum behind these keys in a file of "key number" lines.
double Entries(const std::string& path, const Names& keys) {
  std::ifstream file(path);
  double sum = 0;
  std::string name;
  for (double value = 0; file >> name >> value;) {
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) sum += value;
  }
  return sum;
}

std::optional<double> QuotaOf(const Group& group) {
  double quota = 0;
  double period = 0;
  if (group.version2) {
    std::ifstream file(group.folder + "/cpu.max");
    if (!(file >> quota >> period)) return std::nullopt;
  } else {
    quota = Number(group.folder + "/cpu.cfs_quota_us").value_or(-1);
    period = Number(group.folder + "/cpu.cfs_period_us").value_or(0);
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> BytesLeft(const Group& group) {
  const auto at = [&](const char* name) { return group.folder + "/" + name; };
  std::optional<double> limit = Number(at(group.version2 ? "memory.max" : "memory.limit_in_bytes"));
  if (group.version2) {
    // Beyond it, the group is slowed down until it has given memory up.
    const std::optional<double> high = Number(at("memory.high"));
    if (high && (!limit || *high < *limit)) limit = high;
  }
  const std::optional<double> used =
      Number(at(group.version2 ? "memory.current" : "memory.usage_in_bytes"));
  if (!limit || !used) return std::nullopt;
  const Names of_files = group.version2 ? Names{"active_file", "inactive_file"}
                                        : Names{"total_active_file", "total_inactive_file"};
  const double kept = std::max(0.0, *used - Entries(at("memory.stat"), of_files));
  return std::max(0.0, *limit - kept);
}

template <class Of>
std::optional<double> Least(const std::string& root, const char* controller, Of of) {
  std::optional<double> least;
  for (const Group& group : GroupsOf(root, controller)) {
    const std::optional<double> value = of(group);
    if (value && (!least || *value < *least)) least = value;
  }
  return least;
}

}  // namespace

std::optional<double> QuotaCores(const std::string& root) { return Least(root, "cpu", QuotaOf); }

std::optional<uint64_t> GroupBytesLeft(const std::string& root) {
  const std::optional<double> bytes = Least(root, "memory", BytesLeft);
  // Version 1 has a number beyond all memory where there is no limit.
  if (!bytes || *bytes >= 0x1p62) return std::nullopt;
  return static_cast<uint64_t>(*bytes);
}

}  // namespace oi
