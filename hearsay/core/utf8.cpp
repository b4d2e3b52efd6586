#include "hearsay/core/utf8.h"

#include <cstdint>

#include <fmt/format.h>

namespace hearsay {

namespace {

/// The length in bytes of the first character of `text` (RFC 3629); 0 if it is not valid.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(text[k]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return 0;
  }
  // Overlong encodings, surrogates, and code points beyond U+10FFFF.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string escape_non_utf8(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length > 0) {
      escaped += text.substr(0, length);
    } else {
      escaped += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text.front()));
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return escaped;
}

}  // namespace hearsay
