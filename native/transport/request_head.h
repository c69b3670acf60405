// The head of an HTTP/1.1 request, read as strictly as the standard has it.
//
// uWebSockets.js accepts more: lengths that contradict each other, folded lines, two hosts. The
// kind that is read here decides which requests it sees.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oi {

enum class HeadKind {
  // Complete, and nothing about it leaves room for a second reading.
  kPlain,
  // So far plain, but its end has not come.
  kIncomplete,
  // Another version, a malformed line, a body without a length, Expect, Upgrade:
  // for a server that knows all of HTTP.
  kOther,
};

struct RequestHead {
  HeadKind kind = HeadKind::kOther;
  // Of kPlain: bytes of the head, and of the body behind it.
  size_t bytes = 0;
  uint64_t body_bytes = 0;
};

// Longer heads are of the kind kOther.
inline constexpr size_t kMostHeadBytes = 16'384;

RequestHead ReadRequestHead(std::string_view text);

}  // namespace oi
