// --price traffic=0.1,launch=500,residency=1e-4: what a plan is charged beside its latency, as text.
#pragma once

#include <string_view>

#include "fuselage/walk/price.h"

namespace fuselage::cli {

// Keys that are left out cost nothing. Error for text without keys, an unknown key, one that is named twice,
// and a value that is no finite number >= 0.
walk::Price parse_price(std::string_view text);

}  // namespace fuselage::cli
