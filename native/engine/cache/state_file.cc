#include "state_file.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "../error.h"
#include "hash/hash.h"

namespace oi {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'O', 'I', 'S', 'T', 'A', 'T', 'E', '2'};
constexpr char kEnding[] = ".state";
constexpr char kUnfinished[] = ".part";
constexpr uint64_t kMaxTokens = 1u << 26;

struct Header {
  char magic[8];
  uint64_t tokens;
  uint64_t bytes;
  uint64_t checksum;
};

// Against damage, not against an attacker. Four lanes of multiply and rotate, 64 bits each.
uint64_t Checksum(const uint8_t* data, size_t size, uint64_t seed) {
  constexpr uint64_t kPrime = 0x9E3779B97F4A7C15ull;
  std::array<uint64_t, 4> lanes = {seed + kPrime, seed ^ kPrime, seed - kPrime, ~seed};
  const auto mix = [](uint64_t lane, uint64_t word) {
    lane = (lane ^ word) * kPrime;
    return (lane << 29) | (lane >> 35);
  };
  size_t at = 0;
  for (; at + 32 <= size; at += 32) {
    std::array<uint64_t, 4> words;
    std::memcpy(words.data(), data + at, 32);
    for (size_t i = 0; i < 4; ++i) lanes[i] = mix(lanes[i], words[i]);
  }
  uint64_t sum = size;
  for (; at < size; ++at) sum = mix(sum, data[at]);
  for (const uint64_t lane : lanes) sum = mix(sum, lane);
  return sum;
}

uint64_t StateChecksum(const SavedState& state) {
  const auto* tokens = reinterpret_cast<const uint8_t*>(state.tokens.data());
  return Checksum(state.data.get(), state.size,
                  Checksum(tokens, state.tokens.size() * sizeof(Token), 0));
}

bool ReadHead(std::ifstream& file, uint64_t file_bytes, Header& header,
              std::vector<Token>& tokens) {
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return false;
  if (header.tokens > kMaxTokens) return false;
  const uint64_t head_bytes = sizeof header + header.tokens * sizeof(Token);
  if (file_bytes < head_bytes || file_bytes - head_bytes != header.bytes) return false;
  tokens.resize(header.tokens);
  return static_cast<bool>(file.read(reinterpret_cast<char*>(tokens.data()),
                                     static_cast<std::streamsize>(header.tokens * sizeof(Token))));
}

std::string PathOf(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / (name + kEnding)).string();
}

// Null if it is none of ours, or damaged.
std::shared_ptr<const SavedState> ReadWhole(const std::string& path,
                                            const std::vector<Token>& tokens) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto file_bytes = static_cast<uint64_t>(std::max<std::streamoff>(0, file.tellg()));
  file.seekg(0);
  Header header{};
  auto state = std::make_shared<SavedState>();
  if (!file || !ReadHead(file, file_bytes, header, state->tokens)) return nullptr;
  if (state->tokens != tokens) return nullptr;
  state->size = header.bytes;
  state->data = MakeStateBytes(header.bytes);
  state->proved = true;  // no other is written
  file.read(reinterpret_cast<char*>(state->data.get()), static_cast<std::streamsize>(header.bytes));
  if (!file || StateChecksum(*state) != header.checksum) return nullptr;
  return state;
}

bool WriteWhole(const SavedState& state, const std::string& path) {
  const std::string unfinished = path + kUnfinished;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.tokens = state.tokens.size();
  header.bytes = state.size;
  header.checksum = StateChecksum(state);
  std::error_code error;
  {
    std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(reinterpret_cast<const char*>(state.tokens.data()),
               static_cast<std::streamsize>(state.tokens.size() * sizeof(Token)));
    file.write(reinterpret_cast<const char*>(state.data.get()),
               static_cast<std::streamsize>(state.size));
    file.close();
    if (!file) {  // a full disk
      fs::remove(unfinished, error);
      return false;
    }
  }
  fs::rename(unfinished, path, error);
  return !error;
}

}  // namespace

std::string StateName(const std::vector<Token>& tokens) {
  return hash_sha256_hex(reinterpret_cast<const char*>(tokens.data()),
                         tokens.size() * sizeof(Token));
}

uint64_t StateFileBytes(const SavedState& state) { return sizeof(Header) + state.bytes(); }

std::list<StateFile> ScanStates(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::directory_iterator entries(folder, error);
  if (error) {
    throw EngineError("ERR_INVALID_ARGUMENT", "diskCacheDir: " + folder + ": " + error.message());
  }
  const fs::path probe = fs::path(folder) / (std::string("probe") + kUnfinished);
  if (!std::ofstream(probe)) {
    throw EngineError("ERR_INVALID_ARGUMENT", "diskCacheDir: " + folder + ": cannot be written");
  }
  fs::remove(probe, error);
  std::list<StateFile> found;
  for (const fs::directory_entry& entry : entries) {
    if (!entry.is_regular_file(error)) continue;
    const fs::path& path = entry.path();
    if (path.extension() == kUnfinished) fs::remove(path, error);  // of a writer that was killed
    if (path.extension() != kEnding) continue;
    StateFile file;
    file.name = path.stem().string();
    file.bytes = entry.file_size(error);
    file.used = entry.last_write_time(error);
    std::ifstream stream(path, std::ios::binary);
    Header header{};
    if (!error && ReadHead(stream, file.bytes, header, file.tokens) &&
        StateName(file.tokens) == file.name) {
      found.push_back(std::move(file));
    } else {
      fs::remove(path, error);
    }
  }
  found.sort([](const StateFile& a, const StateFile& b) { return a.used > b.used; });
  return found;
}

std::shared_ptr<const SavedState> ReadStateFile(const std::string& folder, const StateFile& file,
                                                bool& damaged) noexcept {
  try {
    const std::string path = PathOf(folder, file.name);
    auto state = ReadWhole(path, file.tokens);
    damaged = state == nullptr;
    std::error_code ignored;
    if (!damaged) fs::last_write_time(path, StateTime::clock::now(), ignored);
    return state;
  } catch (const std::exception&) {
    return nullptr;
  }
}

bool WriteStateFile(const SavedState& state, const std::string& folder,
                    const StateFile& file) noexcept {
  try {
    const std::string path = PathOf(folder, file.name);
    if (!WriteWhole(state, path)) return false;
    std::error_code ignored;
    fs::last_write_time(path, file.used, ignored);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void RemoveStateFile(const std::string& folder, const std::string& name) noexcept {
  try {
    std::error_code ignored;
    fs::remove(PathOf(folder, name), ignored);
  } catch (const std::exception&) {  // no memory: the next start finds it
  }
}

}  // namespace oi
