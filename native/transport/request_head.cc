#include "request_head.h"

#include <algorithm>
#include <array>

namespace oi {

namespace {

// uWebSockets.js refuses more.
constexpr int kMostFields = 90;
constexpr size_t kMostMethodBytes = 20;
// Longer lengths are no size that anything here allows.
constexpr size_t kMostLengthDigits = 15;
constexpr std::string_view kVersion = " HTTP/1.1\r\n";

enum Class : uint8_t { kToken = 1, kText = 2, kTarget = 4 };

constexpr std::array<uint8_t, 256> Classes() {
  std::array<uint8_t, 256> classes{};
  for (int c = 0x21; c < 0x7f; ++c) classes[c] = kText | kTarget | kToken;
  for (const char c : std::string_view("\"(),/:;<=>?@[\\]{}")) {
    classes[static_cast<uint8_t>(c)] = kText | kTarget;
  }
  for (int c = 0x80; c < 0x100; ++c) classes[c] = kText;
  classes[' '] = classes['\t'] = kText;
  return classes;
}

constexpr auto kClasses = Classes();

size_t Run(std::string_view text, size_t from, Class of) {
  while (from < text.size() && (kClasses[static_cast<uint8_t>(text[from])] & of) != 0) ++from;
  return from;
}

bool Named(std::string_view name, std::string_view lower) {
  return name.size() == lower.size() &&
         std::equal(name.begin(), name.end(), lower.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b; });
}

std::string_view Trimmed(std::string_view value) {
  const size_t from = value.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return value.substr(from, value.find_last_not_of(" \t") - from + 1);
}

// What the fields of a head say that matters here.
struct Fields {
  int count = 0;
  int hosts = 0;
  bool has_length = false;
  uint64_t length = 0;

  // False if this field makes the head one of the kind kOther.
  bool Add(std::string_view name, std::string_view value) {
    if (++count > kMostFields) return false;
    switch (name.size()) {
      case 4:
        if (Named(name, "host") && ++hosts > 1) return false;
        return true;
      case 6:
        return !Named(name, "expect");
      case 7:
        return !Named(name, "upgrade");
      case 14:
        return !Named(name, "content-length") || SetLength(Trimmed(value));
      case 17:
        return !Named(name, "transfer-encoding");
      default:
        return true;
    }
  }

  bool SetLength(std::string_view digits) {
    if (has_length || digits.empty() || digits.size() > kMostLengthDigits) return false;
    for (const char digit : digits) {
      if (digit < '0' || digit > '9') return false;
      length = length * 10 + static_cast<uint64_t>(digit - '0');
    }
    return has_length = true;
  }
};

}  // namespace

RequestHead ReadRequestHead(std::string_view whole) {
  const std::string_view text = whole.substr(0, kMostHeadBytes);
  const RequestHead other{HeadKind::kOther};
  // At the end of the text, what is missing may still come.
  const RequestHead open{text.size() < kMostHeadBytes ? HeadKind::kIncomplete : HeadKind::kOther};

  size_t at = 0;
  while (at < text.size() && text[at] >= 'A' && text[at] <= 'Z') ++at;
  if (at > kMostMethodBytes) return other;
  if (at == text.size()) return open;
  if (at == 0 || text[at] != ' ' || text.substr(0, at) == "CONNECT") return other;
  if (++at == text.size()) return open;
  if (text[at] != '/') return other;
  at = Run(text, at, kTarget);
  const std::string_view version = text.substr(at, kVersion.size());
  if (version != kVersion.substr(0, version.size())) return other;
  at += version.size();
  if (version.size() < kVersion.size()) return open;

  Fields fields;
  for (;;) {
    if (at == text.size()) return open;
    if (text[at] == '\r') {
      if (at + 1 == text.size()) return open;
      if (text[at + 1] != '\n' || fields.hosts != 1) return other;
      return {HeadKind::kPlain, at + 2, fields.length};
    }
    const size_t colon = Run(text, at, kToken);
    if (colon == text.size()) return open;
    if (colon == at || text[colon] != ':') return other;
    const size_t end = Run(text, colon + 1, kText);
    if (end == text.size() || (text[end] == '\r' && end + 1 == text.size())) return open;
    if (text[end] != '\r' || text[end + 1] != '\n') return other;
    if (!fields.Add(text.substr(at, colon - at), text.substr(colon + 1, end - colon - 1))) {
      return other;
    }
    at = end + 2;
  }
}

}  // namespace oi
