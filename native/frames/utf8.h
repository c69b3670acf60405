// Whether bytes are UTF-8, as JavaScript's strings are encoded: what llama.cpp is given from there.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oi {

// Neither overlong forms nor surrogates nor what is beyond U+10FFFF (RFC 3629, section 4).
inline bool IsUtf8(std::string_view text) {
  const auto* byte = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* const end = byte + text.size();
  while (byte < end) {
    const uint8_t first = *byte++;
    if (first < 0x80) continue;
    if (first < 0xC2 || first > 0xF4) return false;
    const ptrdiff_t more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    if (end - byte < more) return false;
    const uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (*byte < low || *byte > high) return false;
    for (ptrdiff_t i = 1; i < more; ++i) {
      if ((byte[i] & 0xC0) != 0x80) return false;
    }
    byte += more;
  }
  return true;
}

}  // namespace oi
