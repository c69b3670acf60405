#include "text_vectors.h"

#include <cstdint>
#include <utility>

namespace oi {
namespace {

// Of an entry's nodes and headers, about.
constexpr size_t kEntryBytes = 192;

}  // namespace

// FNV-1a over the tokens.
size_t TextVectors::Hash::operator()(const std::vector<Token>& text) const {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const Token token : text) hash = (hash ^ static_cast<uint32_t>(token)) * 0x100000001b3u;
  return static_cast<size_t>(hash ^ (hash >> 32));
}

// The tokens stand twice.
size_t TextVectors::BytesOf(const Entry& entry) {
  return kEntryBytes + 2 * entry.text.size() * sizeof(Token) + entry.vector.size() * sizeof(float);
}

const std::vector<float>* TextVectors::Find(const std::vector<Token>& text) {
  const auto place = places_.find(text);
  if (place == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, place->second);
  return &place->second->vector;
}

void TextVectors::Keep(std::vector<Token> text, const std::vector<float>& vector) {
  if (Find(text) != nullptr) return;
  entries_.push_front({std::move(text), vector});
  bytes_ += BytesOf(entries_.front());
  places_.emplace(entries_.front().text, entries_.begin());
  while (bytes_ > most_bytes_) {
    bytes_ -= BytesOf(entries_.back());
    places_.erase(entries_.back().text);
    entries_.pop_back();
  }
}

}  // namespace oi
