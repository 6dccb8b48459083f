// Options that are a range of numbers.
#pragma once

#include <string>

#include "fuselage/core/number_text.h"

namespace fuselage::cli {

struct IntRange {
  int low = 0;
  int high = 0;
};
// "8-32", or "24" for both. Error unless both are of `limits`, which are of int, and low <= high.
IntRange read_int_range(const std::string& option, const std::string& text, const IntegerRange& limits);

// "0.2:0.8". Error unless both are of `limits` and low <= high.
NumberRange read_number_range(const std::string& option, const std::string& text, const NumberRange& limits);

}  // namespace fuselage::cli
