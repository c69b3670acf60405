// What was read of texts alone, by their tokens: names of options and questions come again with
// every request, and need not be read again. Known within a scope alone (../cache/wanted.h).

#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "../types.h"

namespace oi {

class TextVectors {
 public:
  // Keeps about so many bytes; those that were not asked for longest go first. 0: keeps nothing.
  explicit TextVectors(size_t bytes) : most_bytes_(bytes) {}

  // Null if it is not known. Valid until the next call of Keep().
  const std::vector<float>* Find(const std::string& scope, const std::vector<Token>& tokens);
  void Keep(const std::string& scope, std::vector<Token> tokens, const std::vector<float>& vector);

 private:
  struct Text {
    std::string scope;
    std::vector<Token> tokens;
    bool operator==(const Text&) const = default;
  };
  struct Entry {
    Text text;
    std::vector<float> vector;
  };
  struct Hash {
    size_t operator()(const Text& text) const;
  };
  static size_t BytesOf(const Entry& entry);

  const size_t most_bytes_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // the one asked for last comes first
  std::unordered_map<Text, std::list<Entry>::iterator, Hash> places_;
};

}  // namespace oi
