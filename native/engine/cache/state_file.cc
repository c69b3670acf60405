#include "state_file.h"

#include <array>
#include <cstring>
#include <string_view>

#include "../../kernels/kernels.h"
#include "../error.h"
#include "hash/hash.h"

namespace oi {
namespace {

constexpr char kMagic[8] = {'O', 'I', 'S', 'T', 'A', 'T', 'E', '4'};
constexpr std::string_view kEnding = ".state";
constexpr std::string_view kUnfinished = ".part";
constexpr uint64_t kMaxTokens = 1u << 26;
constexpr uint64_t kMaxScopeBytes = 1u << 10;

struct Header {
  char magic[8];
  uint64_t scope_bytes;
  uint64_t tokens;
  uint64_t bytes;
  uint64_t checksum;
  uint64_t kernels;  // those that made it: others make other bits
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
  const auto* scope = reinterpret_cast<const uint8_t*>(state.scope.data());
  const auto* tokens = reinterpret_cast<const uint8_t*>(state.tokens.data());
  const uint64_t seed = Checksum(scope, state.scope.size(), 0);
  return Checksum(state.data.get(), state.size,
                  Checksum(tokens, state.tokens.size() * sizeof(Token), seed));
}

uint64_t KernelsHere() {
  const std::string kernels = kernels::Description();
  return Checksum(reinterpret_cast<const uint8_t*>(kernels.data()), kernels.size(), 0);
}

bool ReadHead(StateStream& file, uint64_t file_bytes, Header& header, std::string& scope,
              std::vector<Token>& tokens) {
  if (!file.Read(&header, sizeof header)) return false;
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return false;
  if (header.kernels != KernelsHere()) return false;
  if (header.tokens > kMaxTokens || header.scope_bytes > kMaxScopeBytes) return false;
  const uint64_t head_bytes = sizeof header + header.scope_bytes + header.tokens * sizeof(Token);
  if (file_bytes < head_bytes || file_bytes - head_bytes != header.bytes) return false;
  scope.resize(header.scope_bytes);
  tokens.resize(header.tokens);
  return file.Read(scope.data(), scope.size()) &&
         file.Read(tokens.data(), tokens.size() * sizeof(Token));
}

std::string FileName(const std::string& name) { return name + std::string(kEnding); }

bool EndsIn(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

// Null if it is none of ours, or damaged.
std::shared_ptr<const SavedState> ReadWhole(const StateFolder& folder, const StateFile& wanted) {
  StateFolder::Facts facts;
  auto file = folder.Open(FileName(wanted.name), facts);
  Header header{};
  auto state = std::make_shared<SavedState>();
  if (!file || !ReadHead(*file, facts.bytes, header, state->scope, state->tokens)) return nullptr;
  if (!state->Is({wanted.tokens, wanted.scope, 0})) return nullptr;
  state->size = header.bytes;
  state->data = MakeStateBytes(header.bytes);
  state->proved = true;  // no other is written
  if (!file->Read(state->data.get(), state->size)) return nullptr;
  if (StateChecksum(*state) != header.checksum) return nullptr;
  file->SetTime(StateTime::clock::now());
  return state;
}

bool WriteWhole(const SavedState& state, const StateFolder& folder, const StateFile& file) {
  const std::string name = FileName(file.name);
  const std::string unfinished = name + std::string(kUnfinished);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.kernels = KernelsHere();
  header.scope_bytes = state.scope.size();
  header.tokens = state.tokens.size();
  header.bytes = state.size;
  header.checksum = StateChecksum(state);
  auto out = folder.Create(unfinished);
  if (!out) return false;
  const bool written = out->Write(&header, sizeof header) &&
                       out->Write(state.scope.data(), state.scope.size()) &&
                       out->Write(state.tokens.data(), state.tokens.size() * sizeof(Token)) &&
                       out->Write(state.data.get(), state.size);
  out->SetTime(file.used);
  if (out->Close() && written && folder.Rename(unfinished, name)) return true;
  folder.Remove(unfinished);  // a full disk
  return false;
}

}  // namespace

// The scope's length first, so that no scope and tokens are another's.
std::string StateName(const std::string& scope, const std::vector<Token>& tokens) {
  const uint64_t length = scope.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  bytes.append(scope);
  bytes.append(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(Token));
  return hash_sha256_hex(bytes.data(), bytes.size());
}

uint64_t StateFileBytes(const SavedState& state) {
  return sizeof(Header) + state.scope.size() + state.bytes();
}

std::list<StateFile> ScanStates(const StateFolder& folder) {
  std::list<StateFile> found;
  folder.ForEach([&](const std::string& name) {
    if (EndsIn(name, kUnfinished)) folder.Remove(name);  // of a writer that was killed
    if (!EndsIn(name, kEnding)) return;
    StateFile file;
    file.name = name.substr(0, name.size() - kEnding.size());
    StateFolder::Facts facts;
    auto stream = folder.Open(name, facts);
    Header header{};
    if (stream && ReadHead(*stream, facts.bytes, header, file.scope, file.tokens) &&
        StateName(file.scope, file.tokens) == file.name) {
      file.bytes = facts.bytes;
      file.used = facts.used;
      found.push_back(std::move(file));
    } else {
      folder.Remove(name);
    }
  });
  found.sort([](const StateFile& a, const StateFile& b) { return a.used > b.used; });
  return found;
}

std::shared_ptr<const SavedState> ReadStateFile(const StateFolder& folder, const StateFile& file,
                                                bool& damaged) noexcept {
  try {
    auto state = ReadWhole(folder, file);
    damaged = state == nullptr;
    return state;
  } catch (const std::exception&) {
    return nullptr;
  }
}

bool WriteStateFile(const SavedState& state, const StateFolder& folder,
                    const StateFile& file) noexcept {
  try {
    return WriteWhole(state, folder, file);
  } catch (const std::exception&) {
    return false;
  }
}

void RemoveStateFile(const StateFolder& folder, const std::string& name) noexcept {
  try {
    folder.Remove(FileName(name));
  } catch (const std::exception&) {  // no memory: the next start finds it
  }
}

}  // namespace oi
