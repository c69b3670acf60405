// Predicts how long evaluating takes, from the steps so far: a least-squares fit.

#pragma once

#include <algorithm>
#include <cstddef>

namespace oi {

// Tokens to evaluate, and the sum over them of the tokens that each one attends to.
struct Work {
  double tokens = 0;
  double attended = 0;

  Work& operator+=(const Work& other) {
    tokens += other.tokens;
    attended += other.attended;
    return *this;
  }
  // `count` tokens, of which the first attends to `before` others.
  static Work Of(double count, double before) {
    return {count, count * before + count * count / 2};
  }
  // `count` tokens that all attend to each other.
  static Work Whole(size_t count) {
    const auto tokens = static_cast<double>(count);
    return {tokens, tokens * tokens};
  }
};

// ms = a · tokens + b · attended with a, b >= 0: least squares over past steps, of which each
// weighs 3 % less than the next. Where steps are too alike to tell a from b, b is 0.
class Rate {
 public:
  void Add(const Work& work, double ms) {
    tt_ = kKeep * tt_ + work.tokens * work.tokens;
    ta_ = kKeep * ta_ + work.tokens * work.attended;
    aa_ = kKeep * aa_ + work.attended * work.attended;
    tm_ = kKeep * tm_ + work.tokens * ms;
    am_ = kKeep * am_ + work.attended * ms;
  }

  double Ms(const Work& work) const {
    const double determinant = tt_ * aa_ - ta_ * ta_;
    double a = 0;
    double b = 0;
    // Nearly collinear steps determine the sum, not a and b.
    if (determinant > 1e-6 * tt_ * aa_) {
      a = (tm_ * aa_ - am_ * ta_) / determinant;
      b = (am_ * tt_ - tm_ * ta_) / determinant;
    }
    if (a <= 0 || b < 0) {
      a = tt_ > 0 ? tm_ / tt_ : 0;
      b = 0;
    }
    return std::max(0.0, a * work.tokens + b * work.attended);
  }

 private:
  static constexpr double kKeep = 0.97;
  double tt_ = 0, ta_ = 0, aa_ = 0, tm_ = 0, am_ = 0;
};

// Tokens per second of recent steps, of which each weighs a tenth less than the next.
class RecentRate {
 public:
  void Add(double tokens, double ms) {
    tokens_ = kKeep * tokens_ + tokens;
    ms_ = kKeep * ms_ + ms;
  }

  // 0 before the first.
  double PerSecond() const { return ms_ > 0 ? 1000 * tokens_ / ms_ : 0; }

 private:
  static constexpr double kKeep = 0.9;
  double tokens_ = 0;
  double ms_ = 0;
};

}  // namespace oi
