// Text as characters (Unicode's code points), for what cuts, measures or cleans it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fuselage::report {

inline constexpr char32_t replacement = 0xFFFD;

// The next character, which is taken off the text, which must not be empty; the replacement character for a
// byte that begins none, or only a part of one, or an overlong one, or half of a pair.
char32_t take_character(std::string_view& text);
void append_character(std::string& out, char32_t c);

std::size_t character_count(std::string_view text);

}  // namespace fuselage::report
