#include "request_head.h"

#include <algorithm>

namespace oi {

namespace {

// Longer lengths are no size that anything here allows.
constexpr size_t kMostLengthDigits = 15;
constexpr std::string_view kVersion = "HTTP/1.1\r\n";
// Of other methods, known ones are answered elsewhere, and unknown ones refused.
constexpr std::array<std::string_view, 7> kMethods = {"GET",    "POST",    "HEAD", "PUT",
                                                      "DELETE", "OPTIONS", "PATCH"};
constexpr size_t kMostMethodBytes = 7;

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

// ASCII without regard to case.
bool Same(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [lower](char x, char y) {
           return lower(x) == lower(y);
         });
}

// Proxies add a line of their own to these.
bool MayRepeat(std::string_view name) {
  return Same(name, "via") || Same(name, "forwarded") || Same(name, "x-forwarded-for") ||
         Same(name, "x-forwarded-proto") || Same(name, "x-forwarded-host");
}

std::string_view Trimmed(std::string_view value) {
  const size_t from = value.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return value.substr(from, value.find_last_not_of(" \t") - from + 1);
}

}  // namespace

HeadKind HeadReader::Read(std::string_view whole) {
  const HeadKind kind = ReadParts(whole.substr(0, kMostHeadBytes));
  // At the end of the text, what is missing may still come.
  const bool full = kind == HeadKind::kIncomplete && whole.size() >= kMostHeadBytes;
  return full ? HeadKind::kOther : kind;
}

HeadKind HeadReader::ReadParts(std::string_view text) {
  const auto other = HeadKind::kOther;
  while (at_ < text.size()) {
    switch (part_) {
      case Part::kMethod: {
        while (at_ < text.size() && text[at_] >= 'A' && text[at_] <= 'Z') ++at_;
        if (at_ > kMostMethodBytes) return other;
        if (at_ == text.size()) break;
        if (text[at_] != ' ' || !EndOfMethod(text.substr(0, at_))) return other;
        start_ = ++at_;
        part_ = Part::kTarget;
        break;
      }
      case Part::kTarget:
        if (at_ == start_ && text[at_] != '/') return other;
        at_ = Run(text, at_, kTarget);
        if (at_ == text.size()) break;
        if (text[at_] != ' ') return other;
        start_ = ++at_;
        part_ = Part::kVersion;
        break;
      case Part::kVersion:
        if (text[at_] != kVersion[at_ - start_]) return other;
        if (++at_ - start_ == kVersion.size()) {
          start_ = at_;
          part_ = Part::kName;
        }
        break;
      case Part::kName:
        if (at_ == start_ && text[at_] == '\r') {
          ++at_;
          part_ = Part::kEnd;
          break;
        }
        at_ = Run(text, at_, kToken);
        if (at_ == text.size()) break;
        if (at_ == start_ || text[at_] != ':') return other;
        colon_ = at_++;
        part_ = Part::kValue;
        break;
      case Part::kValue:
        at_ = Run(text, at_, kText);
        if (at_ == text.size()) break;
        if (text[at_++] != '\r') return other;
        part_ = Part::kFieldEnd;
        break;
      case Part::kFieldEnd:
        if (text[at_] != '\n' || !AddField(text)) return other;
        start_ = ++at_;
        part_ = Part::kName;
        break;
      case Part::kEnd:
        if (text[at_++] != '\n' || !has_host_) return other;
        return HeadKind::kPlain;
    }
  }
  return HeadKind::kIncomplete;
}

bool HeadReader::EndOfMethod(std::string_view method) const {
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

// False if this field makes the head one of the kind kOther.
bool HeadReader::AddField(std::string_view text) {
  if (fields_ == kMostFields) return false;
  const std::string_view name = text.substr(start_, colon_ - start_);
  for (int i = 0; i < fields_; ++i) {
    if (names_[i].size != name.size()) continue;
    if (Same(text.substr(names_[i].start, names_[i].size), name) && !MayRepeat(name)) return false;
  }
  names_[fields_++] = {static_cast<uint16_t>(start_), static_cast<uint16_t>(name.size())};
  switch (name.size()) {
    case 4:
      has_host_ = has_host_ || Same(name, "host");
      return true;
    case 6:
      return !Same(name, "expect");
    case 7:
      return !Same(name, "upgrade");
    case 14:
      // Without the line's CR.
      return !Same(name, "content-length") ||
             SetLength(Trimmed(text.substr(colon_ + 1, at_ - colon_ - 2)));
    case 17:
      return !Same(name, "transfer-encoding");
    default:
      return true;
  }
}

bool HeadReader::SetLength(std::string_view digits) {
  if (has_length_ || digits.empty() || digits.size() > kMostLengthDigits) return false;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return false;
    length_ = length_ * 10 + static_cast<uint64_t>(digit - '0');
  }
  return has_length_ = true;
}

}  // namespace oi
