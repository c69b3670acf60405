#include "text_vectors.h"

#include <cstdint>
#include <functional>
#include <utility>

namespace oi {
namespace {

// Of an entry's nodes and headers, about.
constexpr size_t kEntryBytes = 192;

}  // namespace

// FNV-1a over the tokens.
size_t TextVectors::Hash::operator()(const Text& text) const {
  uint64_t hash = std::hash<std::string>()(text.scope) ^ 0xcbf29ce484222325u;
  for (const Token token : text.tokens)
    hash = (hash ^ static_cast<uint32_t>(token)) * 0x100000001b3u;
  return static_cast<size_t>(hash ^ (hash >> 32));
}

// Scope and tokens stand twice.
size_t TextVectors::BytesOf(const Entry& entry) {
  const Text& text = entry.text;
  return kEntryBytes + 2 * (text.scope.size() + text.tokens.size() * sizeof(Token)) +
         entry.vector.size() * sizeof(float);
}

const std::vector<float>* TextVectors::Find(const std::string& scope,
                                            const std::vector<Token>& tokens) {
  const auto place = places_.find({scope, tokens});
  if (place == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, place->second);
  return &place->second->vector;
}

void TextVectors::Keep(const std::string& scope, std::vector<Token> tokens,
                       const std::vector<float>& vector) {
  if (Find(scope, tokens) != nullptr) return;
  entries_.push_front({{scope, std::move(tokens)}, vector});
  bytes_ += BytesOf(entries_.front());
  places_.emplace(entries_.front().text, entries_.begin());
  while (bytes_ > most_bytes_) {
    bytes_ -= BytesOf(entries_.back());
    places_.erase(entries_.back().text);
    entries_.pop_back();
  }
}

}  // namespace oi
