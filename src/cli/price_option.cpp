#include "price_option.h"

#include "fuselage/core/error.h"
#include "fuselage/core/number_text.h"
#include "fuselage/graph/graph_json.h"
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

}  // namespace

walk::Price parse_price(std::string_view text) {
  walk::Price price;
  for (const auto& [key, value] : parse_key_values(option, text))
    price.*fields[key] =
        read_number(fmt::format("--price: {}", option.keys[key]), value, {.min = 0, .max = max_cycles});
  return price;
}

}  // namespace fuselage::cli
