#include "price_option.h"

#include <charconv>
#include <cmath>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "key_values.h"

namespace fuselage::cli {
namespace {

constexpr double walk::Price::*fields[] = {&walk::Price::traffic, &walk::Price::launch,
                                           &walk::Price::residency};
const KeyValueOption option = {
    .name = "--price",
    .keys = {"traffic", "launch", "residency"},
    .expected =
        "traffic=T (cycles per byte moved), launch=L (cycles per kernel) and residency=R (cycles per byte "
        "resident after a kernel), some of them, with commas between"};

double parse_value(std::string_view key, std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value) || value < 0)
    fail("--price: {}: {} is no price; expected a finite number >= 0", key, quote(text));
  return value;
}

}  // namespace

walk::Price parse_price(std::string_view text) {
  walk::Price price;
  for (const auto& [key, value] : parse_key_values(option, text))
    price.*fields[key] = parse_value(option.keys[key], value);
  return price;
}

}  // namespace fuselage::cli
