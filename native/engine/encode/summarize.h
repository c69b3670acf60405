// What a head reads of a pass: hidden states at tokens, or means over them.

#pragma once

#include <cstddef>
#include <vector>

#include "head.h"
#include "pass.h"

namespace oi {

class PassSummaries {
 public:
  // `state(i)` is the hidden state of the pass' token i, `width` numbers. `alone(i)` is what was
  // read of text i alone: of the state, the question and then each option; null if nothing was.
  template <typename State, typename Alone>
  PassSummaries(const std::vector<PassToken>& tokens, size_t options, size_t width, State state,
                Alone alone)
      : width_(width), sums_((kShared + 3 * options) * width), counts_(kShared + 3 * options) {
    for (size_t text = 0; text < 2 + options; ++text) alone_.push_back(alone(text));
    for (size_t i = 0; i < tokens.size(); ++i) {
      const float* row = state(i);
      if (i == 0) AddTo(kFirst, row);
      if (i + 1 == tokens.size()) AddTo(kLast, row);
      if (tokens[i].ends) AddTo(EndOf(tokens[i].option), row);
      switch (tokens[i].role) {
        case PassToken::Role::kNone:
          break;
        case PassToken::Role::kState:
          AddTo(kState, row);
          break;
        case PassToken::Role::kQuestion:
          AddTo(kQuestion, row);
          break;
        case PassToken::Role::kMarker:
          AddTo(MarkerOf(tokens[i].option), row);
          break;
        case PassToken::Role::kOption:
          AddTo(TextOf(tokens[i].option), row);
          break;
      }
    }
    for (size_t sum = 0; sum < counts_.size(); ++sum) {
      const float count = counts_[sum] > 0 ? static_cast<float>(counts_[sum]) : 1.0f;
      for (size_t i = 0; i < width_; ++i) sums_[sum * width_ + i] /= count;
    }
  }

  Summaries Of(size_t option) const {
    return Summaries({At(MarkerOf(option)), At(TextOf(option)), At(kState), At(kQuestion),
                      At(kFirst), At(EndOf(option)), At(kLast), alone_[2 + option], alone_[0],
                      alone_[1]});
  }

 private:
  // Of the whole pass; then each option has three.
  static constexpr size_t kFirst = 0;
  static constexpr size_t kState = 1;
  static constexpr size_t kQuestion = 2;
  static constexpr size_t kLast = 3;
  static constexpr size_t kShared = 4;

  static size_t MarkerOf(size_t option) { return kShared + 3 * option; }
  static size_t TextOf(size_t option) { return kShared + 3 * option + 1; }
  static size_t EndOf(size_t option) { return kShared + 3 * option + 2; }

  const float* At(size_t sum) const { return sums_.data() + sum * width_; }

  void AddTo(size_t sum, const float* row) {
    for (size_t i = 0; i < width_; ++i) sums_[sum * width_ + i] += row[i];
    ++counts_[sum];
  }

  const size_t width_;
  std::vector<float> sums_;
  std::vector<size_t> counts_;
  std::vector<const float*> alone_;
};

}  // namespace oi
