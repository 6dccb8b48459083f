#include "fuselage/report/label.h"

#include <utility>

#include "utf8.h"

namespace fuselage::report {
namespace {

constexpr char32_t ellipsis = 0x2026;

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

// As ECMAScript's \s, without the control characters.
bool is_space(char32_t c) {
  return c == 0x20 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

bool turns_direction(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

bool is_noncharacter(char32_t c) {
  return (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF);
}

// A label that grows until it is full.
class Label {
 public:
  explicit Label(std::size_t most) : most_(most) {}

  // False if there was no room: then it ends in an ellipsis.
  bool add(char32_t c) {
    if (count_ + 1 == most_) end_of_cut_ = text_.size();
    if (count_ == most_) {
      text_.resize(end_of_cut_);
      append_character(text_, ellipsis);
      return false;
    }
    append_character(text_, c);
    ++count_;
    return true;
  }
  bool empty() const { return text_.empty(); }
  std::string take() && { return std::move(text_); }

 private:
  std::size_t most_;
  std::size_t count_ = 0;
  std::size_t end_of_cut_ = 0;  // where an ellipsis would go
  std::string text_;
};

}  // namespace

std::string label_of(std::string_view text, std::size_t most) {
  Label label(most);
  bool after_space = false;
  while (!text.empty()) {
    const char32_t c = take_character(text);
    if (turns_direction(c)) continue;
    if (is_control(c) || is_space(c)) {
      after_space = !label.empty();
      continue;
    }
    if (after_space && !label.add(' ')) break;
    after_space = false;
    if (!label.add(is_noncharacter(c) ? replacement : c)) break;
  }
  return std::move(label).take();
}

}  // namespace fuselage::report
