#include "fuselage/report/label.h"

namespace fuselage::report {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::string_view ellipsis = "\xe2\x80\xa6";

std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  const bool c1 = first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return c1 || character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf";  // U+FFFE, U+FFFF
}

}  // namespace

std::string label_of(std::string_view text, std::size_t most) {
  std::string label;
  std::size_t kept_end = 0;  // of the label, with one character less than the most
  for (std::size_t count = 1; !text.empty(); ++count) {
    if (count > most) return label.substr(0, kept_end) + std::string(ellipsis);
    const std::string_view character = text.substr(0, length_of(static_cast<unsigned char>(text.front())));
    if (count == most) kept_end = label.size();
    label += is_control(character) ? replacement : character;
    text.remove_prefix(character.size());
  }
  return label;
}

}  // namespace fuselage::report
