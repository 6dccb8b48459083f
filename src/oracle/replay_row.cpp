#include "replay_row.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"

namespace fuselage::oracle {
namespace {

constexpr double optimum_tolerance = same_cost;  // relative
constexpr int no_tile = 0;
constexpr NodeId no_node = -1;

constexpr std::size_t bytes_before = 24;  // shown of texts, around their first difference
constexpr std::size_t bytes_after = 36;

// Part of a text around a byte. Bytes that a terminal would not show as they are become \xNN.
std::string excerpt(std::string_view text, std::size_t around) {
  const std::size_t begin = around > bytes_before ? around - bytes_before : 0;
  const std::string_view part = text.substr(std::min(begin, text.size()), around - begin + bytes_after);
  std::string shown = begin > 0 ? "..." : "";
  for (char c : part) {
    const bool printable = c >= ' ' && c <= '~';
    shown += printable ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return begin + part.size() < text.size() ? shown + "..." : shown;
}

std::string in_quotes(std::string_view text) {
  return fmt::format("'{}'", excerpt(text, 0));
}

// A list in full if it is short, else its part around an element.
template <class Ids>
std::string list_text(const Ids& ids, std::size_t around) {
  constexpr std::size_t most = 24;
  if (ids.size() <= most) return fmt::format("[{}]", fmt::join(ids, ", "));
  const std::size_t begin = around > most / 2 ? around - most / 2 : 0;
  const auto part =
      ids.subspan(std::min(begin, ids.size()), std::min(most, ids.size() - std::min(begin, ids.size())));
  return fmt::format("[{}{}{}] ({} in all)", begin > 0 ? "..., " : "", fmt::join(part, ", "),
                     begin + part.size() < ids.size() ? ", ..." : "", ids.size());
}

std::vector<std::int64_t> read_ids(const JsonField& field) {
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0, count = field.array_size(); i < count; ++i)
    ids.push_back(read_int64(field.element(i)));
  return ids;
}

bool is_int64(const Json& value) {
  if (value.is_number_unsigned()) return std::in_range<std::int64_t>(value.get<std::uint64_t>());
  if (!value.is_number_float()) return value.is_number_integer();
  constexpr double exact = 9007199254740992.0;  // 2^53, where doubles begin to skip integers
  const auto number = value.get<double>();
  return std::abs(number) <= exact && number == std::trunc(number);
}

// An integer of any size; `beyond` if int doesn't hold it. Every int is a double.
int read_int(const JsonField& field, int beyond) {
  const double value = field.number();
  if (value != std::trunc(value)) field.refuse("is no integer", "an integer");
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) return beyond;
  return static_cast<int>(value);
}

std::vector<NodeId> read_node_ids(const JsonField& field) {
  std::vector<NodeId> ids;
  for (std::size_t i = 0, count = field.array_size(); i < count; ++i)
    ids.push_back(read_int(field.element(i), no_node));
  return ids;
}

}  // namespace

std::int64_t read_int64(const JsonField& field) {
  if (!is_int64(field.value())) field.refuse("is no integer", "an integer of 64 bits");
  return field.integer(std::numeric_limits<std::int64_t>::min());
}

Json parse_golden(std::string_view text, const std::string& source, std::size_t first_line) {
  const Json::json_pointer bandwidth("/graph/hardware/slow_mem_bandwidth");
  Json row = parse_json(text, source, {.object_only = true, .first_line = first_line});
  if (!row.contains(bandwidth)) return row;
  Json& value = row[bandwidth];
  if (value.is_number() && value.get<double>() < 0) value = 0;
  return row;
}

std::string exact_text(double value) {
  return fmt::format("{:.17g}", value);
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

void RowCheck::differs(const JsonField& at, std::string_view message) {
  if (difference_) return;
  const std::string path = at.path();
  difference_ = at.source();
  for (const std::string& part : {name_, path})
    if (!part.empty()) *difference_ += ": " + part;
  *difference_ += fmt::format(": {}", message);
}

void RowCheck::record(const JsonField& expected, std::string_view wanted, std::string_view got) {
  differs(expected, fmt::format("expected {}, got {}", wanted, got));
}

void RowCheck::number(const JsonField& expected, double got) {
  const double wanted = expected.number();
  if (!same_bits(wanted, got)) record(expected, exact_text(wanted), exact_text(got));
}

void RowCheck::number_or_null(const JsonField& expected, std::optional<double> got) {
  if (!expected.is_null() && got) return number(expected, *got);
  if (expected.is_null() && !got) return;
  record(expected, got ? "null" : exact_text(expected.number()), got ? exact_text(*got) : "none");
}

void RowCheck::optimum(const JsonField& expected, double got) {
  const double wanted = expected.number();
  if (std::abs(wanted - got) <= optimum_tolerance * std::abs(wanted)) return;
  record(expected, fmt::format("{} within {} relative", exact_text(wanted), optimum_tolerance),
         exact_text(got));
}

void RowCheck::integer(const JsonField& expected, std::int64_t got) {
  const std::int64_t wanted = read_int64(expected);
  if (wanted != got) record(expected, std::to_string(wanted), std::to_string(got));
}

void RowCheck::integer_or_null(const JsonField& expected, std::optional<std::int64_t> got) {
  if (!expected.is_null() && got) return integer(expected, *got);
  if (expected.is_null() && !got) return;
  record(expected, got ? "null" : std::to_string(read_int64(expected)), got ? std::to_string(*got) : "none");
}

void RowCheck::flag(const JsonField& expected, bool got) {
  const bool wanted = expected.boolean();
  if (wanted != got) record(expected, wanted ? "true" : "false", got ? "true" : "false");
}

void RowCheck::text(const JsonField& expected, std::string_view got) {
  const std::string_view wanted = expected.string();
  if (wanted == got) return;
  const auto [a, b] = std::mismatch(wanted.begin(), wanted.end(), got.begin(), got.end());
  const auto at = static_cast<std::size_t>(a - wanted.begin());
  differs(expected,
          fmt::format("at byte {}: expected '{}', got '{}'", at, excerpt(wanted, at), excerpt(got, at)));
}

void RowCheck::text_or_null(const JsonField& expected, std::optional<std::string_view> got) {
  if (!expected.is_null() && got) return text(expected, *got);
  if (expected.is_null() && !got) return;
  record(expected, got ? "null" : in_quotes(expected.string()), got ? in_quotes(*got) : "none");
}

void RowCheck::ids(const JsonField& expected, std::span<const NodeId> got) {
  compare_ids(expected, read_ids(expected), got);
}

void RowCheck::ids_in_any_order(const JsonField& expected, std::span<const NodeId> got) {
  std::vector<std::int64_t> wanted = read_ids(expected);
  std::sort(wanted.begin(), wanted.end());
  compare_ids(expected, wanted, got);
}

void RowCheck::compare_ids(const JsonField& at, std::span<const std::int64_t> expected,
                           std::span<const NodeId> got) {
  const auto [wanted, ours] = std::mismatch(expected.begin(), expected.end(), got.begin(), got.end());
  if (wanted == expected.end() && ours == got.end()) return;
  const auto first = static_cast<std::size_t>(wanted - expected.begin());
  record(at, list_text(expected, first), list_text(got, first));
}

walk::Plan read_recorded_plan(const JsonField& kernels) {
  walk::Plan plan;
  for (std::size_t i = 0, count = kernels.array_size(); i < count; ++i) {
    const JsonField kernel = kernels.element(i);
    plan.push_back({.nodes = read_node_ids(kernel.required("nodes")),
                    .tile = read_int(kernel.required("tile"), no_tile),
                    .retain = read_node_ids(kernel.required("retain"))});
  }
  return plan;
}

std::vector<walk::Action> read_recorded_actions(const JsonField& actions) {
  constexpr std::array<std::string_view, 3> fields = {"fuse_with_prev", "tile", "retain"};
  std::vector<walk::Action> read;
  for (std::size_t i = 0, count = actions.array_size(); i < count; ++i) {
    const JsonField action = actions.element(i);
    action.only(fields);
    read.push_back({.fuse_with_prev = action.required("fuse_with_prev").boolean(),
                    .tile = read_int(action.required("tile"), no_tile),
                    .retain = read_node_ids(action.required("retain"))});
  }
  return read;
}

}  // namespace fuselage::oracle
