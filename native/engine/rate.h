// Predicts how long evaluating takes, from the steps so far.

#pragma once

#include <array>
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

// A step takes ms = c + a · tokens + b · attended, with c, a, b >= 0: least squares of the relative
// errors over past steps, of which each weighs 3 % less than the next. c is what a step costs
// whatever is in it: launches, and the work of the host.
//
// Steps of one size cannot tell c from a. So those that were measured at the start, of several
// sizes, are never forgotten.
class Rate {
 public:
  void Add(const Work& work, double ms) { Add(recent_, kKeep, work, ms); }
  // As Add(), never forgotten.
  void AddLasting(const Work& work, double ms) { Add(lasting_, 1, work, ms); }

  // A step of this work; 0 before the first.
  double StepMs(const Work& work) const;
  // This work as a part of steps that are as large as recent ones.
  double Ms(const Work& work) const;

  // The largest size, of `most`, 3/4, 1/2, 3/8, 1/4 … of it down to `least`, of which a step takes
  // `ms` at most: few sizes, as a device keeps what it has prepared for a size. `least` if none
  // does.
  size_t TokensIn(double ms, size_t least, size_t most) const;

 private:
  static constexpr double kKeep = 0.97;
  static constexpr size_t kTerms = 3;  // 1, tokens, attended
  using Row = std::array<double, kTerms>;

  // Of the normal equations: sums of x xᵀ / ms², of x / ms, and of 1; tokens beside them.
  struct Sums {
    std::array<Row, kTerms> xx{};
    Row xm{};
    double steps = 0;
    double tokens = 0;
  };

  static void Add(Sums& sums, double keep, const Work& work, double ms);
  Row Fit() const;

  Sums recent_;
  Sums lasting_;
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
