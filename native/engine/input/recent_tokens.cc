#include "recent_tokens.h"

#include <utility>

namespace oi {

bool RecentTokens::Append(const TextPart& part, std::vector<Token>& out) {
  std::lock_guard<std::mutex> lock(mutex_);
  const size_t kind = part.trusted ? 1 : 0;
  const auto known = index_[kind].find(part.text);
  if (known == index_[kind].end()) return false;
  entries_[kind].splice(entries_[kind].begin(), entries_[kind], known->second);
  const std::vector<Token>& tokens = known->second->tokens;
  out.insert(out.end(), tokens.begin(), tokens.end());
  return true;
}

void RecentTokens::Keep(const TextPart& part, std::vector<Token> tokens) {
  std::lock_guard<std::mutex> lock(mutex_);
  const size_t kind = part.trusted ? 1 : 0;
  if (index_[kind].contains(part.text)) return;  // by another thread, meanwhile
  Entry entry{part.text, std::move(tokens)};
  if (entry.bytes() > max_bytes_) return;
  bytes_ += entry.bytes();
  entries_[kind].push_front(std::move(entry));
  index_[kind].emplace(entries_[kind].front().text, entries_[kind].begin());
  // Of the kind that grows: templates' texts are few, and needed with every request.
  while (bytes_ > max_bytes_ && !entries_[kind].empty()) {
    const Entry& oldest = entries_[kind].back();
    bytes_ -= oldest.bytes();
    index_[kind].erase(oldest.text);
    entries_[kind].pop_back();
  }
}

}  // namespace oi
