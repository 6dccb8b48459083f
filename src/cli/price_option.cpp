#include "price_option.h"

#include <array>
#include <charconv>
#include <cmath>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage::cli {
namespace {

struct Key {
  std::string_view name;
  double walk::Price::*field;
};
constexpr std::array<Key, 3> keys = {Key{"traffic", &walk::Price::traffic},
                                     Key{"launch", &walk::Price::launch},
                                     Key{"residency", &walk::Price::residency}};
constexpr std::string_view expected =
    "traffic=T (cycles per byte moved), launch=L (cycles per kernel) and residency=R (cycles per byte "
    "resident after a kernel), some of them, with commas between";

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
  std::array<bool, keys.size()> given = {};
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    const std::string_view part = text.substr(0, comma);
    if (more) text.remove_prefix(comma + 1);
    const std::size_t sign = part.find('=');
    if (sign == std::string_view::npos)
      fail("--price: {} is no key=value; expected {}", quote(part), expected);
    const std::string_view name = part.substr(0, sign);
    std::size_t at = 0;
    while (at < keys.size() && keys[at].name != name) ++at;
    if (at == keys.size()) fail("--price: the key {} is unknown; expected {}", quote(name), expected);
    if (given[at]) fail("--price: {} is given twice; expected each key once", name);
    given[at] = true;
    price.*keys[at].field = parse_value(name, part.substr(sign + 1));
  }
  return price;
}

}  // namespace fuselage::cli
