#include "plot_text.h"

#include <cstdint>

#include "fuselage/core/error.h"

namespace fuselage::report {
namespace {

constexpr char32_t first_private = 0xE000;
constexpr char32_t last_private = 0xF8FF;
constexpr char32_t replacement = 0xFFFD;
constexpr char32_t ellipsis = 0x2026;

void append(std::string& out, char32_t c) {
  const auto byte = [&](char32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xC0 | (c >> 6));
  } else if (c < 0x10000) {
    byte(0xE0 | (c >> 12));
    byte(0x80 | ((c >> 6) & 0x3F));
  } else {
    byte(0xF0 | (c >> 18));
    byte(0x80 | ((c >> 12) & 0x3F));
    byte(0x80 | ((c >> 6) & 0x3F));
  }
  byte(0x80 | (c & 0x3F));
}

// The next character, which is taken off the text; the replacement character for a byte that begins none.
char32_t take(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  char32_t c = length == 1 ? lead : length == 2 ? lead & 0x1F : length == 3 ? lead & 0x0F : lead & 0x07;
  bool good = length > 0 && length <= text.size();
  for (std::size_t i = 1; good && i < length; ++i) {
    good = (byte(i) & 0xC0) == 0x80;
    c = (c << 6) | (byte(i) & 0x3F);
  }
  good = good && !(length == 3 && c < 0x800) && !(length == 4 && c < 0x10000) && c <= 0x10FFFF &&
         !(c >= 0xD800 && c <= 0xDFFF);
  text.remove_prefix(good ? length : 1);
  return good ? c : replacement;
}

// Nothing that ends a line, and nothing that XML can't hold.
char32_t drawable(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029) return ' ';
  const bool is_noncharacter = (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF);
  return is_noncharacter ? replacement : c;
}

bool is_wide(char32_t c) {
  return (c >= 0x1100 && c < 0x1160) || (c >= 0x2E80 && c < 0xA4D0) || (c >= 0xAC00 && c < 0xD7A4) ||
         (c >= 0xF900 && c < 0xFB00) || (c >= 0xFE30 && c < 0xFE70) || (c >= 0xFF00 && c < 0xFF61) ||
         c >= 0x1F000;
}

}  // namespace

std::string drawn_text(std::string_view text, std::size_t most) {
  std::string drawn;
  std::size_t end_of_cut = 0;  // where the ellipsis would go
  std::size_t count = 0;
  while (!text.empty()) {
    if (count + 1 == most) end_of_cut = drawn.size();
    if (++count > most) {
      drawn.resize(end_of_cut);
      append(drawn, ellipsis);
      break;
    }
    append(drawn, drawable(take(text)));
  }
  return drawn;
}

std::size_t character_count(std::string_view utf8) {
  std::size_t count = 0;
  for (; !utf8.empty(); ++count) take(utf8);
  return count;
}

double text_width(std::string_view utf8) {
  double width = 0;
  while (!utf8.empty()) width += is_wide(take(utf8)) ? 12.5 : 6.9;
  return width;
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Placeholders::add(const std::string& text) {
  if (text.empty()) return {};
  if (texts_.size() > last_private - first_private)
    fail("the plot has more than {} texts; expected fewer categories or curves", texts_.size());
  const auto character = static_cast<char32_t>(first_private + texts_.size());
  texts_.push_back(text);
  std::string placeholder;
  for (std::size_t i = 0; i < character_count(text); ++i) append(placeholder, character);
  return placeholder;
}

std::string with_texts(std::string_view svg, const std::vector<std::string>& texts) {
  std::string result;
  char32_t last = 0;
  while (!svg.empty()) {
    const std::string_view before = svg;
    const char32_t c = take(svg);
    const bool is_placeholder = c >= first_private && c < first_private + texts.size();
    if (!is_placeholder)
      result += before.substr(0, before.size() - svg.size());
    else if (c != last)
      result += xml_escaped(texts[c - first_private]);
    last = c;
  }
  return result;
}

}  // namespace fuselage::report
