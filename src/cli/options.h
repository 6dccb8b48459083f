// Options whose value is more than text. The values are parsed here rather than by CLI11, so that a wrong one
// is refused in the words of every other bad input (option, value, what would be right), and so that -1 is
// not taken for a huge unsigned number.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage::cli {

// How an option is written and described: {"--steps", "N", "kernels priced, at most"}.
struct OptionText {
  std::string flag;
  std::string value;
  std::string description;
};

struct CountRange {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

// Error unless `text` is an integer of the range, or a finite number of [min, max]. `option` is what the
// message calls it.
std::int64_t parse_count(std::string_view option, std::string_view text, const CountRange& range);
double parse_number(std::string_view option, std::string_view text, double min, double max);

// Calls the value of an option by a name, in help and messages.
CLI::Option* name_value(CLI::Option* option, const std::string& name);

// Both leave `value` alone if the option is not given; it must live as long as `app`.
CLI::Option* add_count(CLI::App& app, const OptionText& option, const CountRange& range,
                       std::optional<std::int64_t>& value);
template <class Enum, std::size_t n>
CLI::Option* add_choice(CLI::App& app, const OptionText& option, const std::array<std::string_view, n>& names,
                        Enum& value) {
  const auto set = [flag = option.flag, &names, &value](const std::string& text) {
    for (std::size_t i = 0; i < n; ++i) {
      if (names[i] != text) continue;
      value = static_cast<Enum>(i);
      return;
    }
    fail("{}: {} is unknown; expected one of {}", flag, quote(text), join_names(names));
  };
  return name_value(app.add_option_function<std::string>(option.flag, set, option.description), option.value);
}

}  // namespace fuselage::cli
