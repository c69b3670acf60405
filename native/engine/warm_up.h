// What an evaluator measures before its first request.

#pragma once

#include <algorithm>
#include <limits>

#include "clock.h"
#include "error.h"

namespace oi {

// The time of the fastest of several passes, milliseconds; after `enough_ms` of them no more
// follow. The first one waits for the weights' pages, so it is not measured; in others another
// process may have had the core.
template <typename Pass>
double FastestMs(double enough_ms, Pass pass) {
  constexpr int kMostPasses = 8;
  double spent_ms = 0;
  double fastest_ms = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 2 || (i < kMostPasses && spent_ms < enough_ms); ++i) {
    const auto start = Clock::now();
    pass();
    const double ms = MillisecondsSince(start);
    if (i == 0) continue;
    spent_ms += ms;
    fastest_ms = std::min(fastest_ms, ms);
  }
  return fastest_ms;
}

inline void RequireFinite(bool finite) {
  if (finite) return;
  throw EngineError("ERR_MODEL_LOAD",
                    "the model's numbers are not finite (NaN or infinity), already for its first "
                    "tokens: its file is damaged");
}

}  // namespace oi
