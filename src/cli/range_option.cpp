#include "range_option.h"

namespace fuselage::cli {

IntRange parse_int_range(const std::string& option, const std::string& text, const CountRange& limits) {
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos) {
    const int one = static_cast<int>(parse_count(option, text, limits));
    return {.low = one, .high = one};
  }
  const auto low = parse_count(option, text.substr(0, dash), limits);
  const auto high = parse_count(option, text.substr(dash + 1), limits);
  if (low > high) fail("{}: {} is no range; expected LOW-HIGH with LOW <= HIGH", option, quote(text));
  return {.low = static_cast<int>(low), .high = static_cast<int>(high)};
}

NumberRange parse_number_range(const std::string& option, const std::string& text, double min, double max) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos)
    fail("{}: {} is no range; expected LOW:HIGH, such as 0.2:0.8", option, quote(text));
  const double low = parse_number(option, text.substr(0, colon), min, max);
  const double high = parse_number(option, text.substr(colon + 1), min, max);
  if (low > high) fail("{}: {} is no range; expected LOW:HIGH with LOW <= HIGH", option, quote(text));
  return {.low = low, .high = high};
}

}  // namespace fuselage::cli
