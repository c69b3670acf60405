// The states and questions that random requests are made of, and the right answer to each.

#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plain.h"

namespace oi {

using Random = std::mt19937_64;

inline size_t Below(Random& random, size_t bound) {
  return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
}

// States of very different lengths, some of which begin alike; questions from one word to many.
class World {
 public:
  World(PlainModel& plain, uint64_t seed);

  static constexpr size_t kStates = 36;
  static constexpr size_t kQuestions = 16;

  const std::string& state(size_t i) const { return states_[i]; }
  const std::string& question(size_t i) const { return questions_[i]; }
  const std::vector<int>& candidates() const { return candidates_; }
  // Computed once for each pair.
  const std::vector<float>& Answer(size_t state, size_t question);

 private:
  PlainModel& plain_;
  std::vector<std::string> states_;
  std::vector<std::string> questions_;
  std::vector<int> candidates_{32, 33, 34, 35};
  std::map<std::pair<size_t, size_t>, std::vector<float>> answers_;
};

}  // namespace oi
