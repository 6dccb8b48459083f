// The one reader of numbers that people write: values of options, of key=value lists, of ranges, cells of CSV
// files. A number is decimal, as in JSON, where zeros may be left out: 12, -0.5, .5, 007, 1e3, 1E+6. An
// integer may be written like any other number (1e3, 65536.0), as long as it is one. Nothing may stand around
// it; inf, nan and hexadecimal digits are no numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace fuselage {

// Both inclusive.
struct IntegerRange {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
struct NumberRange {
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
};

// Errors: "NAME: "abc" is no number; expected a number from 0 to 1". `name` is what the message calls it, an
// option for example. An integer is exact; a number is the double nearest to it, 0 for one that is smaller
// than all of them.
std::int64_t read_integer(std::string_view name, std::string_view text, const IntegerRange& range);
double read_number(std::string_view name, std::string_view text, const NumberRange& range);

// The double nearest to it; none for text that is no number, and for a number beyond all doubles.
std::optional<double> find_number(std::string_view text);

// The decimal digits of an integer of any size, after '-' if it is below 0, without zeros before them: "1e3"
// is "1000". Error if it is none, or has more than `most_integer_digits`.
inline constexpr std::int64_t most_integer_digits = 4300;  // Python's limit, so that seeds are the same there
std::string read_integer_digits(std::string_view name, std::string_view text);

}  // namespace fuselage
