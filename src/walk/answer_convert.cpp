#include "answer_convert.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace fuselage::walk::answer_parts {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<int> exact_int(std::string_view digits) {
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc())
    return std::nullopt;
  return value;
}

// `decimal`: digits, perhaps with sign, point and exponent. Beyond double infinite, or zero if too small.
double nearest_double(std::string_view decimal) {
  if (decimal.starts_with('+')) decimal.remove_prefix(1);
  double value = 0;
  const char* const end = decimal.data() + decimal.size();
  if (std::from_chars(decimal.data(), end, value).ec == std::errc()) return value;

  // from_chars does not say to which side it is out of range: find the power of ten of the first digit.
  const std::size_t e = std::min(decimal.find_first_of("eE"), decimal.size());
  const std::string_view mantissa = decimal.substr(0, e);
  const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  const auto first = static_cast<std::int64_t>(mantissa.find_first_of("123456789"));
  const std::int64_t exponent = e == decimal.size() ? 0 : nearest_int(decimal.substr(e + 1));
  if (point - first + exponent < 0) return 0;
  return decimal.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
}

// Python's int(float): nothing for what is not finite.
std::optional<int> truncated(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  if (value >= std::numeric_limits<int>::max()) return std::numeric_limits<int>::max();
  if (value <= std::numeric_limits<int>::min()) return std::numeric_limits<int>::min();
  return static_cast<int>(value);
}

double real_of(const JsonValue& real) {
  if (real.text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (real.text.ends_with("Infinity")) return HUGE_VAL;
  return nearest_double(real.text);
}

// Is it [sign] digits [. digits] [e [sign] digits], with at least one digit before or after the point?
bool is_decimal(std::string_view text) {
  const auto take_digits = [&text] {
    const auto count = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
    text.remove_prefix(count);
    return count;
  };
  const auto take_any = [&text](std::string_view of) {
    const bool found = !text.empty() && of.find(text.front()) != std::string_view::npos;
    if (found) text.remove_prefix(1);
    return found;
  };
  take_any("+-");
  std::size_t digits = take_digits();
  if (take_any(".")) digits += take_digits();
  if (digits == 0) return false;
  if (take_any("eE")) {
    take_any("+-");
    if (take_digits() == 0) return false;
  }
  return text.empty();
}

std::optional<int> int_of_string(const std::string& text) {
  const std::string_view stripped = strip(text);
  std::string digits;
  for (std::size_t i = 0; i < stripped.size(); ++i) {
    if (stripped[i] != '_') {
      digits += stripped[i];
    } else if (i == 0 || i + 1 == stripped.size() || !is_digit(stripped[i - 1]) ||
               !is_digit(stripped[i + 1])) {
      return std::nullopt;
    }
  }
  if (!is_decimal(digits)) return std::nullopt;
  if (digits.find_first_of(".eE") != std::string::npos) return truncated(nearest_double(digits));
  return nearest_int(digits);
}

}  // namespace

std::string_view strip(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(python_space), text.size()));
  return text.substr(0, text.find_last_not_of(python_space) + 1);
}

int nearest_int(std::string_view digits) {
  const int bound =
      digits.starts_with('-') ? std::numeric_limits<int>::min() : std::numeric_limits<int>::max();
  return exact_int(digits).value_or(bound);
}

NodeId node_id(std::string_view digits) {
  return exact_int(digits).value_or(-1);
}

bool truthy(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::null:
      return false;
    case JsonValue::Kind::boolean:
      return value.text == "true";
    case JsonValue::Kind::integer:
      return value.text != "0" && value.text != "-0";
    case JsonValue::Kind::real:
      return real_of(value) != 0;
    case JsonValue::Kind::string:
      return value.text.size() > 2;
    case JsonValue::Kind::array:
    case JsonValue::Kind::object:
      break;
  }
  bool any = false;
  each_entry(value, [&](const JsonValue&, const JsonValue&) { any = true; });
  return any;
}

std::optional<int> tile_of(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::boolean:
      return value.text == "true" ? 1 : 0;
    case JsonValue::Kind::integer:
      return nearest_int(value.text);
    case JsonValue::Kind::real:
      return truncated(real_of(value));
    case JsonValue::Kind::string:
      return int_of_string(ascii_of(value));
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<NodeId>> retain_of(const JsonValue& value) {
  std::vector<NodeId> retain;
  if (value.kind != JsonValue::Kind::array) {
    const bool listable = value.kind == JsonValue::Kind::string || value.kind == JsonValue::Kind::object;
    if (!listable || truthy(value)) return std::nullopt;
    return retain;
  }
  bool all_integers = true;
  each_entry(value, [&](const JsonValue&, const JsonValue& entry) {
    if (entry.kind == JsonValue::Kind::integer)
      retain.push_back(node_id(entry.text));
    else if (entry.kind == JsonValue::Kind::boolean)
      retain.push_back(entry.text == "true" ? 1 : 0);
    else
      all_integers = false;
  });
  if (!all_integers) return std::nullopt;
  return retain;
}

}  // namespace fuselage::walk::answer_parts
