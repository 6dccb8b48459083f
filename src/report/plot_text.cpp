#include "plot_text.h"

#include <cstdint>

#include "fuselage/core/error.h"
#include "utf8.h"

namespace fuselage::report {
namespace {

constexpr char32_t first_private = 0xE000;
constexpr char32_t last_private = 0xF8FF;

bool is_wide(char32_t c) {
  return (c >= 0x1100 && c < 0x1160) || (c >= 0x2E80 && c < 0xA4D0) || (c >= 0xAC00 && c < 0xD7A4) ||
         (c >= 0xF900 && c < 0xFB00) || (c >= 0xFE30 && c < 0xFE70) || (c >= 0xFF00 && c < 0xFF61) ||
         c >= 0x1F000;
}

}  // namespace

double text_width(std::string_view utf8) {
  double width = 0;
  while (!utf8.empty()) width += is_wide(take_character(utf8)) ? 12.5 : 6.9;
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
  for (std::size_t i = 0; i < character_count(text); ++i) append_character(placeholder, character);
  return placeholder;
}

std::string with_texts(std::string_view svg, const std::vector<std::string>& texts) {
  std::string result;
  char32_t last = 0;
  while (!svg.empty()) {
    const std::string_view before = svg;
    const char32_t c = take_character(svg);
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
