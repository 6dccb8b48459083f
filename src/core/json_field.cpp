#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage {
namespace {

constexpr std::size_t shown_bytes = 60;

// At most `limit` bytes, cut between UTF-8 characters.
std::string_view cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0U) == 0x80U) --limit;
  return text.substr(0, limit);
}

bool is_identifier(std::string_view key) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !key.empty() && key.size() <= shown_bytes && std::all_of(key.begin(), key.end(), plain);
}

std::string described(const Json& value) {
  if (value.is_object()) return fmt::format("an object of {} fields", value.size());
  if (value.is_string()) return quote(value.get_ref<const std::string&>());
  if (value.is_number_float()) return json_number(value.get<double>());
  if (!value.is_array()) return value.dump();
  const bool is_short = value.size() <= 8 && std::all_of(value.begin(), value.end(),
                                                         [](const Json& v) { return v.is_primitive(); });
  if (!is_short) return fmt::format("an array of {} values", value.size());
  std::string text;
  for (const Json& element : value) text += (text.empty() ? "" : ", ") + described(element);
  return "[" + text + "]";
}

std::string type_problem(const Json& value) {
  if (value.is_null()) return "is no value";
  const std::string_view type = value.type_name();
  return fmt::format("is {} {}", type == "array" || type == "object" ? "an" : "a", type);
}

std::string expected_integer(std::int64_t min, std::int64_t max) {
  if (min == max) return fmt::format("the integer {}", min);
  if (max == std::numeric_limits<std::int64_t>::max()) return fmt::format("an integer >= {}", min);
  return fmt::format("an integer from {} to {}", min, max);
}

std::string expected_number(double min, double max) {
  if (min == std::numeric_limits<double>::lowest()) return "a finite number";
  if (max == std::numeric_limits<double>::max()) return fmt::format("a finite number >= {}", min);
  return fmt::format("a number from {} to {}", min, max);
}

constexpr double max_exact_integer = 9007199254740992.0;  // 2^53

}  // namespace

std::string path_with_key(const std::string& path, std::string_view key) {
  if (!is_identifier(key)) return fmt::format("{}[{}]", path, quote(key));
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string path_with_index(const std::string& path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

std::string join_names(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string quote(std::string_view text) {
  const std::string_view shown = cut(text, shown_bytes);
  return json_string(shown) + (shown.size() < text.size() ? "..." : "");
}

std::string json_number(double value) {
  assert(std::isfinite(value));
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string JsonField::path() const {
  if (parent_ == nullptr) return {};
  return parent_->value_->is_array() ? path_with_index(parent_->path(), index_)
                                     : path_with_key(parent_->path(), key_);
}

bool JsonField::has(std::string_view key) const {
  return value_->is_object() && value_->contains(key);
}

JsonField JsonField::required(std::string_view key) const& {
  if (auto field = optional(key)) return *field;
  std::vector<std::string_view> present;
  for (const auto& [name, value] : value_->get_ref<const Json::object_t&>())
    if (present.size() < 12) present.push_back(cut(name, shown_bytes));
  fail("{}: {}: this field is missing; expected it beside {}", source(), path_with_key(path(), key),
       present.empty() ? "no others" : join_names(present));
}

std::optional<JsonField> JsonField::optional(std::string_view key) const& {
  if (!value_->is_object()) refuse(type_problem(*value_), "an object");
  const auto found = value_->find(key);
  if (found == value_->end()) return std::nullopt;
  return JsonField(*found, *this, key, 0);
}

void JsonField::only(std::span<const std::string_view> known) const {
  if (!value_->is_object()) refuse(type_problem(*value_), "an object");
  for (const auto& [key, value] : value_->get_ref<const Json::object_t&>()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      JsonField(value, *this, key, 0)
          .refuse("is the value of an unknown field", fmt::format("only the fields {}", join_names(known)));
  }
}

std::size_t JsonField::array_size() const {
  if (!value_->is_array()) refuse(type_problem(*value_), "an array");
  return value_->size();
}

JsonField JsonField::element(std::size_t index) const& {
  assert(value_->is_array() && index < value_->size());
  return JsonField((*value_)[index], *this, {}, index);
}

std::int64_t JsonField::integer(std::int64_t min, std::int64_t max) const {
  const auto wrong = [&](std::string_view problem) { refuse(problem, expected_integer(min, max)); };
  if (!value_->is_number()) wrong(type_problem(*value_));
  std::int64_t integer = 0;
  if (value_->is_number_float()) {
    const auto value = value_->get<double>();
    if (std::abs(value) > max_exact_integer) wrong("is out of range");
    if (value != std::trunc(value)) wrong("is not an integer");
    integer = static_cast<std::int64_t>(value);
  } else {
    if (value_->is_number_unsigned() && !std::in_range<std::int64_t>(value_->get<std::uint64_t>()))
      wrong("is out of range");
    integer = value_->get<std::int64_t>();
  }
  if (integer < min || integer > max) wrong(integer < 0 && min >= 0 ? "is negative" : "is out of range");
  return integer;
}

double JsonField::number(double min, double max) const {
  const auto wrong = [&](std::string_view problem) { refuse(problem, expected_number(min, max)); };
  if (!value_->is_number()) wrong(type_problem(*value_));
  const auto number = value_->get<double>();
  if (number < min || number > max) wrong(number < 0 && min >= 0 ? "is negative" : "is out of range");
  return number;
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) refuse(type_problem(*value_), "true or false");
  return value_->get<bool>();
}

const std::string& JsonField::string() const {
  if (!value_->is_string()) refuse(type_problem(*value_), "a string");
  return value_->get_ref<const std::string&>();
}

void JsonField::refuse(std::string_view problem, std::string_view expected) const {
  refuse(fmt::format("{} {}; expected {}", described(*value_), problem, expected));
}

void JsonField::refuse(std::string_view message) const {
  const std::string at = path();
  if (at.empty()) fail("{}: {}", source(), message);
  fail("{}: {}: {}", source(), at, message);
}

}  // namespace fuselage
