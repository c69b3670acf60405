// Caches the tokens of recent texts: the questions of a batch come once with each of its states.
//
// Thread-safe. Bounded in bytes; what was used longest ago goes first. A caller's texts are known
// within their scope alone (../cache/wanted.h), a template's to all.

#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../types.h"

namespace oi {

class RecentTokens {
 public:
  explicit RecentTokens(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Appends what is known of a part. False if nothing is.
  bool Append(const TextPart& part, const std::string& scope, std::vector<Token>& out);
  void Keep(const TextPart& part, const std::string& scope, std::vector<Token> tokens);

 private:
  struct Entry {
    std::string scope;
    std::string text;
    std::vector<Token> tokens;
    size_t bytes() const {
      return scope.size() + text.size() + tokens.size() * sizeof(Token) + kOverheadBytes;
    }
  };
  struct Key {
    std::string_view scope;
    std::string_view text;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      const std::hash<std::string_view> hash;
      return hash(key.scope) * 31 + hash(key.text);
    }
  };
  using Entries = std::list<Entry>;
  // Of one kind of text: trusted text has other tokens than a caller's.
  using Index = std::unordered_map<Key, Entries::iterator, Hash>;

  static constexpr size_t kOverheadBytes = 128;  // of the containers, for an entry

  const size_t max_bytes_;
  std::mutex mutex_;
  size_t bytes_ = 0;    // guarded by mutex_
  Entries entries_[2];  // guarded by mutex_: the latest first; a caller's, a template's
  Index index_[2];      // guarded by mutex_: views of the entries
};

}  // namespace oi
