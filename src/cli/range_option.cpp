#include "range_option.h"

#include <optional>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage::cli {
namespace {

// The two sides of a sign that neither begins nor ends the text; none without one.
std::optional<std::pair<std::string, std::string>> split(const std::string& text, char sign) {
  std::size_t at = text.find(sign, 1);  // not the sign of a number below 0
  while (at != std::string::npos && (text[at - 1] == 'e' || text[at - 1] == 'E'))
    at = text.find(sign, at + 1);  // nor that of an exponent
  if (at == std::string::npos || at + 1 == text.size()) return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

}  // namespace

IntRange read_int_range(const std::string& option, const std::string& text, const IntegerRange& limits) {
  const auto sides = split(text, '-');
  if (!sides && (text.empty() || text.ends_with('-')))
    fail("{}: {} is no range; expected LOW-HIGH, such as 8-32", option, quote(text));
  const auto low = read_integer(option, sides ? sides->first : text, limits);
  const auto high = sides ? read_integer(option, sides->second, limits) : low;
  if (low > high) fail("{}: {} is no range; expected LOW-HIGH with LOW <= HIGH", option, quote(text));
  return {.low = static_cast<int>(low), .high = static_cast<int>(high)};
}

NumberRange read_number_range(const std::string& option, const std::string& text, const NumberRange& limits) {
  const auto sides = split(text, ':');
  if (!sides) fail("{}: {} is no range; expected LOW:HIGH, such as 0.2:0.8", option, quote(text));
  const NumberRange range{.min = read_number(option, sides->first, limits),
                          .max = read_number(option, sides->second, limits)};
  if (range.min > range.max)
    fail("{}: {} is no range; expected LOW:HIGH with LOW <= HIGH", option, quote(text));
  return range;
}

}  // namespace fuselage::cli
