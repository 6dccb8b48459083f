// How commands declare what they take, the one way there is: every option and argument says of what type its
// value is, and in which range. The values are read here rather than by CLI11, so that a wrong one is refused
// while the line is read, before any work begins, and in the words of every other bad input (option, value,
// what would be right); and so that -1 is not taken for a huge unsigned number.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/core/number_text.h"

namespace fuselage::cli {

// How an option is written and described: {"--steps", "N", "kernels priced, at most"}.
struct OptionText {
  std::string flag;
  std::string value;
  std::string description;
};

// What a value may be. CLI11 knows it as the type of the option, so that who walks through the commands, as a
// test does, knows what each of them must refuse.
enum class Takes : std::uint8_t {
  integer,   // of a range
  number,    // of a range
  form,      // one of some words, a range, a list of key=value...: nearly any text is wrong
  text,      // a file, a name: anything that is not empty
  any_text,  // empty, too
};
inline constexpr std::array<std::string_view, 5> takes_names = {"INTEGER", "NUMBER", "FORM", "TEXT", "ANY"};
std::optional<Takes> takes(
    const CLI::Option& option);  // none: a flag, or an option that was not declared here

// Makes sense of a value, or throws an Error which begins with the option.
using ReadForm = std::function<void(const std::string& text)>;

// All leave `value` alone if the option is not given; it must live as long as `app`.
CLI::Option* add_integer(CLI::App& app, const OptionText& option, const IntegerRange& range,
                         std::optional<std::int64_t>& value);
CLI::Option* add_number(CLI::App& app, const OptionText& option, const NumberRange& range,
                        std::optional<double>& value);
CLI::Option* add_text(CLI::App& app, const OptionText& option, std::string& value);
CLI::Option* add_text(CLI::App& app, const OptionText& option, const ReadForm& read);  // which refuses ""
CLI::Option* add_any_text(CLI::App& app, const OptionText& option, std::optional<std::string>& value);
// May be given again.
CLI::Option* add_texts(CLI::App& app, const OptionText& option, std::vector<std::string>& values);

CLI::Option* add_form(CLI::App& app, const OptionText& option, const ReadForm& read);
// May be given again.
CLI::Option* add_forms(CLI::App& app, const OptionText& option, const ReadForm& read);

// What stands without a flag; its name is what the help calls it.
CLI::Option* add_argument(CLI::App& app, const std::string& name, const std::string& description,
                          std::string& value);
CLI::Option* add_arguments(CLI::App& app, const std::string& name, const std::string& description,
                           std::vector<std::string>& values);
CLI::Option* add_form_argument(CLI::App& app, const std::string& name, const std::string& description,
                               const ReadForm& read);

// The place of `text` among `names`. Error, which `option` begins, if it is none of them.
std::size_t read_choice(std::string_view option, std::string_view text,
                        std::span<const std::string_view> names);

template <class Enum, std::size_t n>
CLI::Option* add_choice(CLI::App& app, const OptionText& option, const std::array<std::string_view, n>& names,
                        Enum& value) {
  return add_form(app, option, [flag = option.flag, &names, &value](const std::string& text) {
    value = static_cast<Enum>(read_choice(flag, text, names));
  });
}

}  // namespace fuselage::cli
