// `oi-rate-test` prints TAP: what Rate learns of devices whose times are given.

#include "../rate.h"

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "../plan/step_tokens.h"

namespace {

int checks = 0;
int failures = 0;

void Check(bool ok, const char* name, double seen) {
  ++checks;
  if (!ok) ++failures;
  std::printf("%s %d - %s: %g\n", ok ? "ok" : "not ok", checks, name, seen);
}

constexpr size_t kLeast = 256;
constexpr size_t kMost = 2048;
constexpr double kLimitMs = 50;

// A step takes c + a · tokens + b · attended milliseconds, give or take 5 %.
struct Device {
  double c, a, b;
  uint32_t random = 1;

  double Ms(const oi::Work& work) {
    random = random * 1664525 + 1013904223;
    const double noise = 0.95 + 0.1 * (random >> 8) / double(1 << 24);
    return noise * (c + a * work.tokens + b * work.attended);
  }
};

// As the scorer does it: two sizes are measured at the start, then steps of the size that is found.
size_t SizeAfter(Device device, int steps, double before, oi::Rate& rate) {
  for (const double tokens : {64.0, double(kMost)}) {
    const auto work = oi::Work::Of(tokens, 0);
    rate.AddLasting(work, device.Ms(work));
  }
  for (int i = 0; i < steps; ++i) {
    const auto work = oi::Work::Of(double(rate.TokensIn(kLimitMs, kLeast, kMost)), before);
    rate.Add(work, device.Ms(work));
  }
  return rate.TokensIn(kLimitMs, kLeast, kMost);
}

size_t SizeAfter(Device device, int steps, double before = 0) {
  oi::Rate rate;
  return SizeAfter(device, steps, before, rate);
}

}  // namespace

int main() {
  // The card on which steps stayed at 256 tokens for ever: .06 ms a token beside 10 ms.
  for (const int steps : {0, 20, 2000}) {
    const auto size = double(SizeAfter({10, .06, 0}, steps));
    Check(size == 512, "10 ms and .06 ms a token end at 512 tokens, of 666 in 50 ms", size);
  }
  const auto fast = double(SizeAfter({10, .015, 0}, 20));
  Check(fast == 2048, "10 ms and .015 ms a token end at the whole step", fast);
  const auto slow = double(SizeAfter({10, .5, 0}, 20));
  Check(slow == 256, "a slow device ends at the least size", slow);
  const auto many = double(SizeAfter({2, .02, 2e-5}, 20, 3000));
  Check(many == 512, "long states make smaller steps, of 580 in 50 ms", many);

  oi::Rate alike;
  for (int i = 0; i < 100; ++i) alike.Add(oi::Work::Of(256, 0), 26);
  const double same = alike.StepMs(oi::Work::Of(256, 0));
  Check(std::abs(same - 26) < .01, "steps of one size are predicted as they were", same);

  oi::Rate rate;
  SizeAfter({10, .06, 0}, 300, 0, rate);
  const double step = rate.StepMs(oi::Work::Of(2048, 0));
  Check(std::abs(step / (10 + .06 * 2048) - 1) < .1, "a step of another size is predicted", step);
  const double part = rate.Ms(oi::Work::Of(256, 0));
  Check(std::abs(part / 20.36 - 1) < .1, "half of a step bears half of what a step costs", part);

  oi::Rate slower;
  SizeAfter({10, .06, 0}, 50, 0, slower);
  Device device{20, .12, 0};
  for (int i = 0; i < 100; ++i) {
    const auto work = oi::Work::Of(double(slower.TokensIn(kLimitMs, kLeast, kMost)), 0);
    slower.Add(work, device.Ms(work));
  }
  const auto halved = double(slower.TokensIn(kLimitMs, kLeast, kMost));
  Check(halved == 256, "a device that becomes half as fast gets smaller steps", halved);

  oi::Rate empty;
  Check(empty.StepMs(oi::Work::Of(256, 0)) == 0, "before the first step nothing is known", 0);
  oi::ContextPlan plan{};
  plan.step_tokens = plan.shared_step_tokens = plan.microbatch_tokens = 2048;
  plan.step_ms = kLimitMs;
  const auto waited = double(oi::StepTokens(plan, true, 512, 5000));
  Check(waited == 512, "a step that a newcomer may wait for is no longer than any other", waited);
  plan.shared_step_tokens = 256;
  const auto shared = double(oi::StepTokens(plan, true, 512, 5000));
  Check(shared == 256, "nor larger than a shared step may be", shared);
  plan.step_ms = 0;
  plan.step_tokens = 512;
  const auto whole = double(oi::StepTokens(plan, false, 0, 600));
  Check(whole == 600, "a task that exceeds a step by a little ends in it", whole);

  std::printf("1..%d\n", checks);
  return failures == 0 ? 0 : 1;
}
