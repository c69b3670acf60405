#include "disk_tier.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "error.h"

namespace oi {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'O', 'I', 'S', 'T', 'A', 'T', 'E', '1'};
constexpr char kEnding[] = ".state";
constexpr char kUnfinished[] = ".part";
constexpr uint64_t kMaxTokens = 1u << 26;
// States in memory besides the host tier's budget.
constexpr size_t kMaxWaiting = 4;

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

uint64_t TokensChecksum(const std::vector<Token>& tokens) {
  return Checksum(reinterpret_cast<const uint8_t*>(tokens.data()), tokens.size() * sizeof(Token),
                  0);
}

uint64_t StateChecksum(const SavedState& state) {
  return Checksum(state.data.get(), state.size, TokensChecksum(state.tokens));
}

std::string NameOf(const std::vector<Token>& tokens) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx",
                static_cast<unsigned long long>(TokensChecksum(tokens)));
  return text.data();
}

// Header and tokens; false if the file is none of ours or cut short.
bool ReadHead(std::ifstream& file, uint64_t file_bytes, Header& header,
              std::vector<Token>& tokens) {
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return false;
  if (header.tokens > kMaxTokens) return false;
  if (file_bytes != sizeof header + header.tokens * sizeof(Token) + header.bytes) return false;
  tokens.resize(header.tokens);
  return static_cast<bool>(file.read(reinterpret_cast<char*>(tokens.data()),
                                     static_cast<std::streamsize>(header.tokens * sizeof(Token))));
}

}  // namespace

DiskTier::DiskTier(std::string folder, uint64_t limit, Reuse reuse)
    : folder_(std::move(folder)), limit_(limit), reuse_(reuse) {
  Scan();
  writer_ = std::thread([this] { WriterMain(); });
}

DiskTier::~DiskTier() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    waiting_.clear();
  }
  wake_.notify_all();
  writer_.join();
}

std::string DiskTier::Path(const std::string& name) const {
  return (fs::path(folder_) / (name + kEnding)).string();
}

void DiskTier::Scan() {
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::directory_iterator entries(folder_, error);
  if (error) {
    throw EngineError("ERR_INVALID_ARGUMENT", "diskCacheDir: " + folder_ + ": " + error.message());
  }
  std::vector<std::pair<fs::file_time_type, File>> found;
  const fs::path probe = fs::path(folder_) / (std::string("probe") + kUnfinished);
  if (!std::ofstream(probe)) {
    throw EngineError("ERR_INVALID_ARGUMENT", "diskCacheDir: " + folder_ + ": cannot be written");
  }
  for (const fs::directory_entry& entry : entries) {
    if (!entry.is_regular_file(error)) continue;
    const fs::path& path = entry.path();
    if (path.extension() == kUnfinished) fs::remove(path, error);  // of a writer that was killed
    if (path.extension() != kEnding) continue;
    std::ifstream file(path, std::ios::binary);
    Header header{};
    File state;
    state.name = path.stem().string();
    state.bytes = entry.file_size(error);
    if (error || !ReadHead(file, state.bytes, header, state.tokens) ||
        NameOf(state.tokens) != state.name) {
      fs::remove(path, error);
      continue;
    }
    found.emplace_back(entry.last_write_time(error), std::move(state));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [time, file] : found) {
    bytes_ += file.bytes;
    files_.push_back(std::move(file));
  }
  while (bytes_ > limit_) Forget(std::string(files_.back().name));
}

DiskTier::Match DiskTier::Find(const std::vector<Token>& wanted) const {
  std::lock_guard<std::mutex> lock(mutex_);
  Match best;
  for (const File& file : files_) {
    const size_t tokens = reuse_.Tokens(file.tokens, wanted, best.tokens);
    if (tokens > best.tokens) best = {file.name, tokens, file.bytes};
  }
  return best;
}

DiskTier::State DiskTier::Read(const std::string& name) {
  const auto start = std::chrono::steady_clock::now();
  std::ifstream file(Path(name), std::ios::binary | std::ios::ate);
  const auto file_bytes = static_cast<uint64_t>(std::max<std::streamoff>(0, file.tellg()));
  file.seekg(0);
  Header header{};
  auto state = std::make_shared<SavedState>();
  if (file && ReadHead(file, file_bytes, header, state->tokens)) {
    state->size = header.bytes;
    state->data = MakeStateBytes(header.bytes);
    file.read(reinterpret_cast<char*>(state->data.get()),
              static_cast<std::streamsize>(header.bytes));
    if (file && NameOf(state->tokens) == name && StateChecksum(*state) == header.checksum) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      read_rate_ = static_cast<double>(file_bytes) / std::max(1e-6, seconds.count());
      std::error_code ignored;  // the time tells the next process which one was used last
      fs::last_write_time(Path(name), fs::file_time_type::clock::now(), ignored);
      std::lock_guard<std::mutex> lock(mutex_);
      const auto it = std::find_if(files_.begin(), files_.end(),
                                   [&](const File& entry) { return entry.name == name; });
      if (it != files_.end()) files_.splice(files_.begin(), files_, it);
      return state;
    }
  }
  std::lock_guard<std::mutex> lock(mutex_);
  Forget(name);
  return nullptr;
}

bool DiskTier::Holds(const std::vector<Token>& tokens) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return Has(tokens);
}

// With mutex_ held.
bool DiskTier::Has(const std::vector<Token>& tokens) const {
  const std::string name = NameOf(tokens);
  return name == writing_ ||
         std::any_of(files_.begin(), files_.end(),
                     [&](const File& file) { return file.name == name; }) ||
         std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const State& state) { return state->tokens == tokens; });
}

void DiskTier::Put(State state, bool wait) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (sizeof(Header) + state->bytes() > limit_ || Has(state->tokens)) return;
    const auto room = [this] { return waiting_.size() < kMaxWaiting; };
    if (wait) written_.wait(lock, room);
    if (!room()) return;
    waiting_.push_back(std::move(state));
  }
  wake_.notify_one();
}

void DiskTier::Flush() {
  std::unique_lock<std::mutex> lock(mutex_);
  written_.wait(lock, [this] { return waiting_.empty() && writing_.empty(); });
}

uint64_t DiskTier::bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

size_t DiskTier::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return files_.size();
}

// With mutex_ held.
void DiskTier::Forget(const std::string& name) {
  const auto it = std::find_if(files_.begin(), files_.end(),
                               [&](const File& file) { return file.name == name; });
  if (it == files_.end()) return;
  std::error_code ignored;
  fs::remove(Path(name), ignored);
  bytes_ -= it->bytes;
  files_.erase(it);
}

void DiskTier::WriterMain() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const State state = std::move(waiting_.front());
    waiting_.pop_front();
    std::string name = NameOf(state->tokens);
    writing_ = name;
    lock.unlock();

    const bool written = Write(*state, name);

    lock.lock();
    writing_.clear();
    if (written) {
      const uint64_t bytes = sizeof(Header) + state->bytes();
      files_.push_front({std::move(name), state->tokens, bytes});
      bytes_ += bytes;
      while (bytes_ > limit_) Forget(std::string(files_.back().name));
    }
    written_.notify_all();
  }
}

bool DiskTier::Write(const SavedState& state, const std::string& name) const {
  const std::string unfinished = (fs::path(folder_) / (name + kUnfinished)).string();
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
  fs::rename(unfinished, Path(name), error);
  return !error;
}

}  // namespace oi
