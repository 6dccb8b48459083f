#include "fuselage/core/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage {
namespace {

// digits * 10^exponent; digits neither begin nor end with a zero, and are empty for 0.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  bool is_integer() const { return exponent >= 0; }
  // Of the number without its sign, before the point; <= 0 for a fraction.
  std::int64_t magnitude() const { return static_cast<std::int64_t>(digits.size()) + exponent; }
  std::string integer() const {
    if (digits.empty()) return "0";
    return (negative ? "-" : "") + digits + std::string(static_cast<std::size_t>(exponent), '0');
  }
};

constexpr std::int64_t furthest_exponent = 1'000'000'000'000;  // beyond the length of any text

std::string_view take_digits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

bool take(std::string_view& text, std::string_view any_of) {
  const bool found = !text.empty() && any_of.find(text.front()) != std::string_view::npos;
  if (found) text.remove_prefix(1);
  return found;
}

// What follows the e; none if that is no integer.
std::optional<std::int64_t> read_exponent(std::string_view text) {
  const bool negative = text.starts_with('-');
  take(text, "+-");
  const std::string_view digits = take_digits(text);
  if (digits.empty() || !text.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : digits) value = std::min(10 * value + (c - '0'), furthest_exponent);
  return negative ? -value : value;
}

std::optional<Decimal> read_decimal(std::string_view text) {
  Decimal decimal{.negative = take(text, "-"), .digits = {}};
  decimal.digits = take_digits(text);
  std::size_t fraction = 0;
  if (take(text, ".")) {
    const std::string_view digits = take_digits(text);
    decimal.digits += digits;
    fraction = digits.size();
  }
  if (decimal.digits.empty()) return std::nullopt;
  if (take(text, "eE")) {
    const auto exponent = read_exponent(text);
    if (!exponent) return std::nullopt;
    decimal.exponent = *exponent;
    text = {};
  }
  if (!text.empty()) return std::nullopt;
  decimal.exponent -= static_cast<std::int64_t>(fraction);
  const std::size_t last = decimal.digits.find_last_not_of('0');
  const std::size_t kept = last == std::string::npos ? 0 : last + 1;
  decimal.exponent += static_cast<std::int64_t>(decimal.digits.size() - kept);
  decimal.digits.resize(kept);
  decimal.digits.erase(0, decimal.digits.find_first_not_of('0'));
  if (decimal.digits.empty()) decimal.exponent = 0;
  return decimal;
}

// `text` is that of `decimal`. None beyond all doubles.
std::optional<double> double_of(const Decimal& decimal, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) return std::isfinite(value) ? std::optional(value) : std::nullopt;
  if (decimal.magnitude() > 0) return std::nullopt;
  return decimal.negative ? -0.0 : 0.0;
}

// One side is enough where the other is the type's own, unless it is the one that was missed.
std::string expected_integer(const IntegerRange& range, bool too_large) {
  const bool open = range.max == IntegerRange{}.max && !too_large;
  return open ? fmt::format("an integer >= {}", range.min)
              : fmt::format("an integer from {} to {}", range.min, range.max);
}

std::string expected_number(const NumberRange& range, bool out_of_range) {
  if (!out_of_range && range.max == NumberRange{}.max)
    return range.min == NumberRange{}.min ? "a finite number"
                                          : fmt::format("a finite number >= {}", range.min);
  return fmt::format("a number from {} to {}", range.min, range.max);
}

// As it was written, if a line has room for it.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  return text.size() <= longest ? std::string(text) : quote(text);
}

}  // namespace

std::int64_t read_integer(std::string_view name, std::string_view text, const IntegerRange& range) {
  const auto decimal = read_decimal(text);
  if (!decimal || !decimal->is_integer())
    fail("{}: {} is no integer; expected {}", name, quote(text), expected_integer(range, false));
  const auto out_of_range = [&](bool too_large) {
    fail("{}: {} is out of range; expected {}", name, shown(text), expected_integer(range, too_large));
  };
  constexpr std::int64_t most_digits = std::numeric_limits<std::int64_t>::digits10 + 1;
  if (decimal->magnitude() > most_digits) out_of_range(!decimal->negative);
  const std::string digits = decimal->integer();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc()) out_of_range(!decimal->negative);
  if (value < range.min || value > range.max) out_of_range(value > range.max);
  return value;
}

double read_number(std::string_view name, std::string_view text, const NumberRange& range) {
  const auto decimal = read_decimal(text);
  if (!decimal) fail("{}: {} is no number; expected {}", name, quote(text), expected_number(range, false));
  const std::optional<double> value = double_of(*decimal, text);
  if (!value || *value < range.min || *value > range.max)
    fail("{}: {} is out of range; expected {}", name, quote(text), expected_number(range, !value));
  return *value;
}

std::optional<double> find_number(std::string_view text) {
  const auto decimal = read_decimal(text);
  return decimal ? double_of(*decimal, text) : std::nullopt;
}

std::string read_integer_digits(std::string_view name, std::string_view text) {
  const auto decimal = read_decimal(text);
  if (!decimal || !decimal->is_integer())
    fail("{}: {} is no integer; expected one such as 42", name, quote(text));
  if (decimal->magnitude() > most_integer_digits)
    fail("{}: {} is out of range; expected an integer of at most {} digits", name, quote(text),
         most_integer_digits);
  return decimal->integer();
}

}  // namespace fuselage
