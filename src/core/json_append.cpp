#include "fuselage/core/json_append.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <iterator>

namespace fuselage {
namespace {

// By byte: what follows the backslash; 'u' for \u00XX, 0 for bytes that stand for themselves.
constexpr std::array<char, 256> make_escapes() {
  std::array<char, 256> escapes{};
  for (std::size_t c = 0; c < 0x20; ++c) escapes[c] = 'u';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  escapes['\b'] = 'b';
  escapes['\f'] = 'f';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  escapes['\t'] = 't';
  return escapes;
}
constexpr std::array<char, 256> escapes = make_escapes();

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t written = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const char escape = escapes[byte];
    if (escape == 0) continue;
    out.append(text, written, i - written);
    written = i + 1;
    if (escape == 'u') {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else {
      out += '\\';
      out += escape;
    }
  }
  out.append(text, written, std::string_view::npos);
  out += '"';
}

void append_json_number(std::string& out, double value) {
  std::array<char, 32> digits;
  const char* end = fmt::format_to(digits.data(), "{}", value);
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

}  // namespace fuselage
