#include "key_values.h"

#include <algorithm>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage::cli {

std::vector<std::pair<std::size_t, std::string_view>> parse_key_values(const KeyValueOption& option,
                                                                       std::string_view text) {
  std::vector<std::pair<std::size_t, std::string_view>> values;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    const std::string_view part = text.substr(0, comma);
    if (more) text.remove_prefix(comma + 1);
    const std::size_t sign = part.find('=');
    if (sign == std::string_view::npos)
      fail("{}: {} is no key=value; expected {}", option.name, quote(part), option.expected);
    const std::string_view name = part.substr(0, sign);
    const auto found = std::find(option.keys.begin(), option.keys.end(), name);
    if (found == option.keys.end())
      fail("{}: the key {} is unknown; expected {}", option.name, quote(name), option.expected);
    const auto at = static_cast<std::size_t>(found - option.keys.begin());
    for (const auto& [other, value] : values)
      if (other == at) fail("{}: {} is given twice; expected each key once", option.name, name);
    values.emplace_back(at, part.substr(sign + 1));
  }
  return values;
}

}  // namespace fuselage::cli
