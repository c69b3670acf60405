// The first answer to each question about each state, and whether later ones have its bits.

#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace oi {

class FirstAnswers {
 public:
  // `size`: floats of an answer.
  explicit FirstAnswers(size_t size) : size_(size) {}

  // Whether this answer has the bits of the first one, or is it.
  bool Has(size_t state, size_t question, const float* answer) {
    const std::vector<float> now(answer, answer + size_);
    const auto [first, is_first] = answers_.emplace(std::pair(state, question), now);
    if (is_first) return true;
    ++compared_;
    const bool same = std::memcmp(first->second.data(), answer, size_ * sizeof(float)) == 0;
    if (!same) ++differing_;
    return same;
  }

  size_t compared() const { return compared_; }
  size_t differing() const { return differing_; }

 private:
  const size_t size_;
  std::map<std::pair<size_t, size_t>, std::vector<float>> answers_;
  size_t compared_ = 0;
  size_t differing_ = 0;
};

}  // namespace oi
