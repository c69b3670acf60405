// A head: from hidden states at chosen tokens of a pass to one logit for each option.
// src/prompt/hidden/README.md says what each one computes, and where a file has its numbers.

#pragma once

#include <array>
#include <cstddef>

namespace oi {

// What is taken from the hidden states of a pass, each as wide as they are: the states of the
// option's marker and of its last token, the means over its text, over the state and the question,
// and the states of the pass' first and last token; then the means over passes that hold the
// option's text, the state or the question alone.
enum class Summary {
  kMarker,
  kOption,
  kState,
  kQuestion,
  kFirst,
  kEnd,
  kLast,
  kAloneOption,
  kAloneState,
  kAloneQuestion,
};
constexpr size_t kSummaries = 10;

// By the number of its name.
class Summaries {
 public:
  explicit Summaries(std::array<const float*, kSummaries> all) : all_(all) {}
  const float* operator[](Summary summary) const { return all_[static_cast<size_t>(summary)]; }

 private:
  std::array<const float*, kSummaries> all_;
};

class Head {
 public:
  virtual ~Head() = default;

  // Single precision, in an order that depends on nothing else.
  virtual float Logit(const Summaries& summaries) const = 0;
};

}  // namespace oi
