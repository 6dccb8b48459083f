#include "options.h"

#include <charconv>
#include <cmath>

namespace fuselage::cli {
namespace {

std::string range_text(const CountRange& range) {
  return range.max == CountRange{}.max ? fmt::format("an integer >= {}", range.min)
                                       : fmt::format("an integer from {} to {}", range.min, range.max);
}

// Reads all of the text as a number.
template <class Number>
bool read_all(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

}  // namespace

std::int64_t parse_count(std::string_view option, std::string_view text, const CountRange& range) {
  std::int64_t value = 0;
  if (!read_all(text, value))
    fail("{}: {} is no such number; expected {}", option, quote(text), range_text(range));
  if (value < range.min || value > range.max)
    fail("{}: {} is out of range; expected {}", option, value, range_text(range));
  return value;
}

double parse_number(std::string_view option, std::string_view text, double min, double max) {
  double value = 0;
  const bool read = read_all(text, value);
  if (!read || !std::isfinite(value) || value < min || value > max)
    fail("{}: {} is out of range; expected a number from {} to {}", option, quote(text), min, max);
  return value;
}

CLI::Option* name_value(CLI::Option* option, const std::string& name) {
  return option->type_name(name)->option_text(name);
}

CLI::Option* add_count(CLI::App& app, const OptionText& option, const CountRange& range,
                       std::optional<std::int64_t>& value) {
  const auto set = [flag = option.flag, range, &value](const std::string& text) {
    value = parse_count(flag, text, range);
  };
  return name_value(app.add_option_function<std::string>(option.flag, set, option.description), option.value);
}

}  // namespace fuselage::cli
