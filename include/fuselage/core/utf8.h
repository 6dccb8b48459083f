// Text that is UTF-8, and text that is not: Latin-1, say, which no JSON and no SVG can hold.
#pragma once

#include <string>
#include <string_view>

namespace fuselage {

// Of the first byte that begins no UTF-8 character (RFC 3629: no surrogates, nothing overlong); npos if all
// do.
std::size_t find_no_utf8(std::string_view text);
inline bool is_utf8(std::string_view text) {
  return find_no_utf8(text) == std::string_view::npos;
}

// Error, "SOURCE: line 3, column 7: the byte 0xE9 is not UTF-8; expected text in UTF-8", where there is such
// a byte. `first_line` is what the message calls the first line of the text.
void check_utf8(std::string_view text, std::string_view source, std::size_t first_line = 1);

}  // namespace fuselage
