// The head of an HTTP/1.1 request, read as strictly as the standard has it.
//
// uWebSockets.js accepts more: lengths that contradict each other, folded lines, two hosts. The
// kind that is read here decides which requests it sees.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oi {

enum class HeadKind {
  // Complete, and nothing about it leaves room for a second reading.
  kPlain,
  // So far plain, but its end has not come.
  kIncomplete,
  // Another version or method, a malformed line, a body without a length, a field twice, Expect,
  // Upgrade: for a server that knows all of HTTP.
  kOther,
};

// Longer heads are of the kind kOther.
inline constexpr size_t kMostHeadBytes = 16'384;
// uWebSockets.js refuses more.
inline constexpr int kMostFields = 90;

// Reads one head, each byte once, however many pieces it comes in.
class HeadReader {
 public:
  // `whole`: all that came of the head, and what is behind it.
  HeadKind Read(std::string_view whole);

  // Of kPlain: bytes of the head, and of the body behind it.
  size_t bytes() const { return at_; }
  uint64_t body_bytes() const { return length_; }

 private:
  enum class Part : uint8_t { kMethod, kTarget, kVersion, kName, kValue, kFieldEnd, kEnd };

  HeadKind ReadParts(std::string_view text);
  bool EndOfMethod(std::string_view method) const;
  bool AddField(std::string_view text);
  bool SetLength(std::string_view digits);

  Part part_ = Part::kMethod;
  // How far it has been read, and where the part and the field's value begin.
  size_t at_ = 0;
  size_t start_ = 0;
  size_t colon_ = 0;
  int fields_ = 0;
  bool has_host_ = false;
  bool has_length_ = false;
  uint64_t length_ = 0;
  // Where the names of the fields stand.
  struct Name {
    uint16_t start;
    uint16_t size;
  };
  std::array<Name, kMostFields> names_;
};

}  // namespace oi
