// Fields of a payload, one behind another, as src/runner/fields.ts writes and reads them.
//
// Nothing is tagged: both sides know the order. A text or an array is preceded by its length in
// bytes, a list by its number of elements. Bytes from the peer are not trusted: what does not fit
// throws ProtocolError.

#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "utf8.h"

namespace oi {

static_assert(std::endian::native == std::endian::little, "numbers travel as they lie in memory");

// The peer broke the protocol; the message says how.
struct ProtocolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class FieldReader {
 public:
  explicit FieldReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint32_t Unsigned() { return Number<uint32_t>(); }
  double Double() { return Number<double>(); }

  std::string Text() {
    const std::span<const uint8_t> bytes = Bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!IsUtf8(text)) throw ProtocolError("A text is not UTF-8");
    return std::string(text);
  }

  // A view of the payload.
  std::span<const uint8_t> Bytes() { return Take(Unsigned()); }

  std::vector<int32_t> Integers() {
    const std::span<const uint8_t> bytes = Bytes();
    if (bytes.size() % sizeof(int32_t) != 0) throw ProtocolError("An array ends within a number");
    std::vector<int32_t> numbers(bytes.size() / sizeof(int32_t));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }

  // Calls `read` for each element of a list. Its length is not trusted: nothing is allocated by it.
  template <typename Read>
  void List(Read read) {
    for (uint32_t left = Unsigned(); left > 0; --left) read();
  }

  void End() const {
    if (!bytes_.empty()) throw ProtocolError("A payload is longer than its fields");
  }

 private:
  template <typename T>
  T Number() {
    T number;
    std::memcpy(&number, Take(sizeof(T)).data(), sizeof(T));
    return number;
  }

  std::span<const uint8_t> Take(size_t count) {
    if (count > bytes_.size()) throw ProtocolError("A payload ends too early");
    const std::span<const uint8_t> taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  std::span<const uint8_t> bytes_;
};

// Adds fields to a buffer.
class FieldWriter {
 public:
  explicit FieldWriter(std::string& out) : out_(out) {}

  void Unsigned(uint32_t value) { Raw(&value, sizeof value); }
  void Double(double value) { Raw(&value, sizeof value); }

  void Text(std::string_view text) {
    Unsigned(static_cast<uint32_t>(text.size()));
    Raw(text.data(), text.size());
  }

  template <typename T>
  void Numbers(const std::vector<T>& numbers) {
    const size_t bytes = numbers.size() * sizeof(T);
    Unsigned(static_cast<uint32_t>(bytes));
    Raw(numbers.data(), bytes);
  }

 private:
  void Raw(const void* data, size_t size) {
    if (size > 0) out_.append(static_cast<const char*>(data), size);
  }

  std::string& out_;
};

}  // namespace oi
