#include "recent_tokens.h"

#include <utility>

namespace oi {

bool RecentTokens::Append(const TextPart& part, const std::string& scope, std::vector<Token>& out) {
  std::lock_guard<std::mutex> lock(mutex_);
  const size_t kind = part.trusted ? 1 : 0;
  const auto known = index_[kind].find({part.trusted ? "" : scope, part.text});
  if (known == index_[kind].end()) return false;
  entries_[kind].splice(entries_[kind].begin(), entries_[kind], known->second);
  const std::vector<Token>& tokens = known->second->tokens;
  out.insert(out.end(), tokens.begin(), tokens.end());
  return true;
}

void RecentTokens::Keep(const TextPart& part, const std::string& scope, std::vector<Token> tokens) {
  std::lock_guard<std::mutex> lock(mutex_);
  const size_t kind = part.trusted ? 1 : 0;
  Entry entry{part.trusted ? "" : scope, part.text, std::move(tokens)};
  if (index_[kind].contains({entry.scope, entry.text})) return;  // by another thread, meanwhile
  if (entry.bytes() > max_bytes_) return;
  bytes_ += entry.bytes();
  entries_[kind].push_front(std::move(entry));
  const Entry& kept = entries_[kind].front();
  index_[kind].emplace(Key{kept.scope, kept.text}, entries_[kind].begin());
  // Of the kind that grows: templates' texts are few, and needed with every request.
  while (bytes_ > max_bytes_ && !entries_[kind].empty()) {
    const Entry& oldest = entries_[kind].back();
    bytes_ -= oldest.bytes();
    index_[kind].erase({oldest.scope, oldest.text});
    entries_[kind].pop_back();
  }
}

}  // namespace oi
