// Actions as text. What a search skips never holds the next place where its field could begin, so searches
// that fail at one place and go on behind it stay linear.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "fuselage/grid/episode.h"

namespace fuselage::grid {
namespace {

constexpr std::string_view white_space = " \t\n\r\f\v\x1c\x1d\x1e\x1f";  // Python's, within ASCII
constexpr std::size_t max_digits = 4300;                                 // of an integer, as in Python

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view skip_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
  return text;
}

std::string_view strip(std::string_view text) {
  text = skip_space(text);
  return text.substr(0, text.find_last_not_of(white_space) + 1);
}

// What follows the first "field =" at which `accept` finds what it looks for.
template <class Accept>
std::optional<std::string_view> find_field(std::string_view text, std::string_view field,
                                           const Accept& accept) {
  for (auto at = text.find(field); at != std::string_view::npos; at = text.find(field)) {
    text.remove_prefix(at + field.size());
    const std::string_view sign = skip_space(text);
    if (!sign.starts_with('=')) continue;
    if (const auto found = accept(skip_space(sign.substr(1)))) return found;
  }
  return std::nullopt;
}

// The text within brackets.
std::optional<std::string_view> find_list(std::string_view text, std::string_view field) {
  // Behind the last bracket no list ends.
  const auto last = text.rfind(']');
  if (last == std::string_view::npos) return std::nullopt;
  return find_field(text.substr(0, last + 1), field,
                    [](std::string_view value) -> std::optional<std::string_view> {
                      if (!value.starts_with('[')) return std::nullopt;
                      return value.substr(1, value.find(']') - 1);
                    });
}

std::optional<std::string_view> find_bare_list(std::string_view text, std::string_view field) {
  return find_field(text, field, [](std::string_view value) -> std::optional<std::string_view> {
    if (value.empty() || !is_digit(value.front())) return std::nullopt;
    const auto is_part = [](char c) {
      return is_digit(c) || c == ',' || white_space.find(c) != std::string_view::npos;
    };
    const auto end = std::find_if_not(value.begin(), value.end(), is_part);
    return value.substr(0, static_cast<std::size_t>(end - value.begin()));
  });
}

template <class Int>
std::optional<Int> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_digit(text[i]))
      digits += text[i];
    else if (text[i] != '_' || i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]))
      return std::nullopt;
  }
  if (digits.empty() || digits.size() > max_digits) return std::nullopt;
  if (negative) digits.insert(digits.begin(), '-');
  Int value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc()) return value;
  return negative ? std::numeric_limits<Int>::min() : std::numeric_limits<Int>::max();
}

// Integers between commas; nothing if an entry is none.
template <class Int>
std::optional<std::vector<Int>> parse_list(std::string_view text, bool skip_empty) {
  std::vector<Int> values;
  while (true) {
    const auto comma = std::min(text.find(','), text.size());
    const std::string_view entry = strip(text.substr(0, comma));
    if (!entry.empty() || !skip_empty) {
      const std::optional<Int> value = parse_integer<Int>(entry);
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    if (comma == text.size()) return values;
    text.remove_prefix(comma + 1);
  }
}

template <class Int>
std::optional<std::vector<Int>> list_in(std::string_view text, std::string_view field, bool skip_empty) {
  const auto list = find_list(text, field);
  return list ? parse_list<Int>(*list, skip_empty) : std::nullopt;
}

std::optional<std::vector<OpId>> ops_in(std::string_view text) {
  auto list = find_list(text, "ops");
  if (!list) list = find_bare_list(text, "ops");
  return list ? parse_list<OpId>(*list, true) : std::nullopt;
}

Granularity granularity_in(std::string_view text, const Machine& machine) {
  const auto config = list_in<std::int64_t>(text, "config", false);
  if (!config || config->size() < 2 || config->size() > 3)
    return {.w = machine.native_width, .h = machine.native_height, .k = 1};
  return {.w = (*config)[0], .h = (*config)[1], .k = config->size() == 3 ? (*config)[2] : 1};
}

}  // namespace

std::optional<Kernel> parse_step(std::string_view text, const Machine& machine) {
  const std::optional<std::vector<OpId>> ops = ops_in(text);
  if (!ops) return std::nullopt;
  return Kernel{
      .ops = *ops,
      .granularity = granularity_in(text, machine),
      .retain = list_in<TensorId>(text, "retain", true).value_or(std::vector<TensorId>{}),
      .traversal = list_in<std::int64_t>(text, "traversal", false),
  };
}

std::string step_text(const Kernel& step) {
  const auto [w, h, k] = step.granularity;
  std::string text = fmt::format("SCHEDULE ops=[{}] config=[{},{},{}] retain=[{}]", fmt::join(step.ops, ","),
                                 w, h, k, fmt::join(step.retain, ","));
  if (step.traversal) text += fmt::format(" traversal=[{}]", fmt::join(*step.traversal, ","));
  return text;
}

}  // namespace fuselage::grid
