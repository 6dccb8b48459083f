#include "options.h"

#include <algorithm>

namespace fuselage::cli {
namespace {

CLI::Option* declared(CLI::Option* option, Takes what, const std::string& value) {
  return option->type_name(std::string(takes_names[static_cast<std::size_t>(what)]))->option_text(value);
}

// An empty text is a shell variable that isn't set, and never what was meant.
void refuse_empty(const std::string& option, const std::string& value, const std::string& text) {
  if (text.empty()) fail("{}: is missing its value; expected {}, not \"\"", option, value);
}

CLI::Option* add_all(CLI::App& app, const OptionText& option, const ReadForm& read) {
  return app
      .add_option_function<std::vector<std::string>>(
          option.flag,
          [read](const std::vector<std::string>& texts) { std::for_each(texts.begin(), texts.end(), read); },
          option.description)
      ->allow_extra_args(false);  // or "[a,b]" is two
}

ReadForm text_into(const OptionText& option, std::string& value) {
  return [option, &value](const std::string& text) {
    refuse_empty(option.flag, option.value, text);
    value = text;
  };
}

ReadForm text_onto(const OptionText& option, std::vector<std::string>& values) {
  return [option, &values](const std::string& text) {
    refuse_empty(option.flag, option.value, text);
    values.push_back(text);
  };
}

}  // namespace

std::optional<Takes> takes(const CLI::Option& option) {
  const auto at = std::find(takes_names.begin(), takes_names.end(), option.get_type_name());
  if (at == takes_names.end()) return std::nullopt;
  return static_cast<Takes>(at - takes_names.begin());
}

CLI::Option* add_integer(CLI::App& app, const OptionText& option, const IntegerRange& range,
                         std::optional<std::int64_t>& value) {
  const auto set = [flag = option.flag, range, &value](const std::string& text) {
    value = read_integer(flag, text, range);
  };
  return declared(add_form(app, option, set), Takes::integer, option.value);
}

CLI::Option* add_number(CLI::App& app, const OptionText& option, const NumberRange& range,
                        std::optional<double>& value) {
  const auto set = [flag = option.flag, range, &value](const std::string& text) {
    value = read_number(flag, text, range);
  };
  return declared(add_form(app, option, set), Takes::number, option.value);
}

CLI::Option* add_text(CLI::App& app, const OptionText& option, std::string& value) {
  return add_text(app, option, text_into(option, value));
}

CLI::Option* add_text(CLI::App& app, const OptionText& option, const ReadForm& read) {
  return declared(add_form(app, option, read), Takes::text, option.value);
}

CLI::Option* add_any_text(CLI::App& app, const OptionText& option, std::optional<std::string>& value) {
  const auto set = [&value](const std::string& text) { value = text; };
  return declared(add_form(app, option, set), Takes::any_text, option.value);
}

CLI::Option* add_texts(CLI::App& app, const OptionText& option, std::vector<std::string>& values) {
  return declared(add_forms(app, option, text_onto(option, values)), Takes::text, option.value);
}

CLI::Option* add_form(CLI::App& app, const OptionText& option, const ReadForm& read) {
  CLI::Option* added = app.add_option_function<std::string>(option.flag, read, option.description);
  return declared(added, Takes::form, option.value);
}

CLI::Option* add_forms(CLI::App& app, const OptionText& option, const ReadForm& read) {
  return declared(add_all(app, option, read), Takes::form, option.value);
}

CLI::Option* add_argument(CLI::App& app, const std::string& name, const std::string& description,
                          std::string& value) {
  const ReadForm set = text_into({.flag = name, .value = "a name", .description = {}}, value);
  return declared(add_form_argument(app, name, description, set), Takes::text, " ");
}

CLI::Option* add_arguments(CLI::App& app, const std::string& name, const std::string& description,
                           std::vector<std::string>& values) {
  const OptionText text{.flag = name, .value = "a name", .description = description};
  CLI::Option* added = add_all(app, text, text_onto(text, values));
  added->allow_extra_args(true);  // else there is one
  return declared(added, Takes::text, "...");
}

CLI::Option* add_form_argument(CLI::App& app, const std::string& name, const std::string& description,
                               const ReadForm& read) {
  return add_form(app, {.flag = name, .value = " ", .description = description}, read);
}

std::size_t read_choice(std::string_view option, std::string_view text,
                        std::span<const std::string_view> names) {
  const auto at = std::find(names.begin(), names.end(), text);
  if (at == names.end())
    fail("{}: {} is unknown; expected one of {}", option, quote(text), join_names(names));
  return static_cast<std::size_t>(at - names.begin());
}

}  // namespace fuselage::cli
