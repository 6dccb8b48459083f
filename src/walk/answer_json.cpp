#include "answer_json.h"

#include <algorithm>

namespace fuselage::walk::answer_parts {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// How many characters of `text` are digits, from its beginning.
std::size_t digits_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
}

constexpr std::string_view escape_letters = "\"\\/bfnrt";
constexpr std::string_view escaped_characters = "\"\\/\b\f\n\r\t";

}  // namespace

void JsonCursor::skip_space() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size()));
}

bool JsonCursor::take(char expected) {
  if (!rest_.starts_with(expected)) return false;
  rest_.remove_prefix(1);
  return true;
}

bool JsonCursor::take_word(std::string_view word) {
  if (!rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

// After the opening quote, through the closing one. Bytes beyond ASCII pass as they are.
bool JsonCursor::take_string() {
  while (!rest_.empty()) {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '"') return true;
    if (static_cast<unsigned char>(c) < 0x20) return false;
    if (c != '\\') continue;
    if (take('u')) {
      const std::string_view digits = rest_.substr(0, 4);
      if (digits.size() < 4 || std::ranges::any_of(digits, [](char d) { return hex_value(d) < 0; }))
        return false;
      rest_.remove_prefix(4);
    } else {
      if (rest_.empty() || escape_letters.find(rest_.front()) == std::string_view::npos) return false;
      rest_.remove_prefix(1);
    }
  }
  return false;
}

std::optional<JsonValue::Kind> JsonCursor::take_number() {
  std::size_t used = rest_.starts_with('-') ? 1 : 0;
  const std::size_t whole = digits_of(rest_.substr(used));
  if (whole == 0) return std::nullopt;
  used += rest_[used] == '0' ? 1 : whole;  // what follows a leading zero is not of this number
  JsonValue::Kind kind = JsonValue::Kind::integer;
  if (used < rest_.size() && rest_[used] == '.') {
    if (const std::size_t fraction = digits_of(rest_.substr(used + 1)); fraction > 0) {
      used += 1 + fraction;
      kind = JsonValue::Kind::real;
    }
  }
  if (used < rest_.size() && (rest_[used] == 'e' || rest_[used] == 'E')) {
    std::size_t begin = used + 1;
    if (begin < rest_.size() && (rest_[begin] == '+' || rest_[begin] == '-')) ++begin;
    if (const std::size_t exponent = digits_of(rest_.substr(begin)); exponent > 0) {
      used = begin + exponent;
      kind = JsonValue::Kind::real;
    }
  }
  rest_.remove_prefix(used);
  return kind;
}

// After the opening bracket, through the closing one.
bool JsonCursor::take_container(bool keyed) {
  const char close = keyed ? '}' : ']';
  skip_space();
  if (take(close)) return true;
  do {
    skip_space();
    if (keyed) {
      if (!take('"') || !take_string()) return false;
      skip_space();
      if (!take(':')) return false;
      skip_space();
    }
    if (!take_value()) return false;
    skip_space();
  } while (take(','));
  return take(close);
}

std::optional<JsonValue::Kind> JsonCursor::take_value() {
  using Kind = JsonValue::Kind;
  if (rest_.empty()) return std::nullopt;
  if (take('"')) return take_string() ? std::optional(Kind::string) : std::nullopt;
  if (const char open = rest_.front(); open == '{' || open == '[') {
    if (depth_ == max_depth_) {
      too_deep_ = true;
      return std::nullopt;
    }
    rest_.remove_prefix(1);
    ++depth_;
    const bool closed = take_container(open == '{');
    --depth_;
    if (!closed) return std::nullopt;
    return open == '{' ? Kind::object : Kind::array;
  }
  if (take_word("null")) return Kind::null;
  if (take_word("true") || take_word("false")) return Kind::boolean;
  if (take_word("NaN") || take_word("Infinity") || take_word("-Infinity")) return Kind::real;
  return take_number();
}

std::optional<JsonValue> JsonCursor::value() {
  const std::string_view before = rest_;
  const std::optional<JsonValue::Kind> kind = take_value();
  if (!kind) return std::nullopt;
  return JsonValue{*kind, before.substr(0, before.size() - rest_.size())};
}

std::string ascii_of(const JsonValue& string) {
  const std::string_view inside = string.text.substr(1, string.text.size() - 2);
  std::string result;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      result += static_cast<unsigned char>(inside[i]) < 0x80 ? inside[i] : '\x80';
    } else if (inside[++i] != 'u') {
      result += escaped_characters[escape_letters.find(inside[i])];
    } else {
      int unit = 0;
      for (int digit = 0; digit < 4; ++digit) unit = unit * 16 + hex_value(inside[++i]);
      result += unit < 0x80 ? static_cast<char>(unit) : '\x80';
    }
  }
  return result;
}

}  // namespace fuselage::walk::answer_parts
