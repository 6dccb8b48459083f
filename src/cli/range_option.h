// Options that are a range of numbers.
#pragma once

#include <string>

#include "options.h"

namespace fuselage::cli {

struct IntRange {
  int low = 0;
  int high = 0;
};
// "8-32", or "24" for both. Error unless both are of `limits` and low <= high.
IntRange parse_int_range(const std::string& option, const std::string& text, const CountRange& limits);

struct NumberRange {
  double low = 0;
  double high = 0;
};
// "0.2:0.8". Error unless both are of [min, max] and low <= high.
NumberRange parse_number_range(const std::string& option, const std::string& text, double min, double max);

}  // namespace fuselage::cli
