#include "fuselage/core/utf8.h"

#include <algorithm>
#include <cstdint>

#include "fuselage/core/error.h"

namespace fuselage {
namespace {

// Bytes of the character that begins here; 0 if none does.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t size = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < size) return 0;
  std::uint32_t code = byte(0) & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    code = code << 6 | (byte(i) & 0x3FU);
  }
  const bool overlong = code < (size == 4 ? 0x10000U : size == 3 ? 0x800U : 0x80U);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return overlong || surrogate || code > 0x10FFFF ? 0 : size;
}

}  // namespace

std::size_t find_no_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text.substr(at));
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::string_view::npos;
}

void check_utf8(std::string_view text, std::string_view source, std::size_t first_line) {
  const std::size_t at = find_no_utf8(text);
  if (at == std::string_view::npos) return;
  const std::string_view before = text.substr(0, at);
  const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  fail("{}: line {}, column {}: the byte 0x{:02X} is not UTF-8; expected text in UTF-8", source,
       first_line + lines, at - line_begin + 1, static_cast<unsigned char>(text[at]));
}

}  // namespace fuselage
