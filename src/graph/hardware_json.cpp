#include <array>
#include <cmath>

#include "fuselage/core/error.h"
#include "fuselage/core/number_text.h"
#include "fuselage/graph/graph_json.h"

namespace fuselage {
namespace {

constexpr std::array<std::string_view, 4> hardware_fields = {"fast_mem_capacity", "slow_mem_bandwidth",
                                                             "kernel_launch_cost", "max_fusion_depth"};

constexpr IntegerRange capacities{.min = 0};
constexpr IntegerRange depths{.min = 1, .max = std::numeric_limits<int>::max()};

double read_bandwidth(const JsonField& field) {
  const double bandwidth = field.number(0);
  if (bandwidth > 0 && bandwidth < min_bandwidth)
    field.refuse("is too small", fmt::format("0 (free traffic) or a number >= {}", min_bandwidth));
  return bandwidth;
}

void read_field(Hardware& hardware, std::string_view name, const JsonField& field) {
  if (name == "fast_mem_capacity") hardware.fast_mem_capacity = field.integer(capacities.min);
  if (name == "slow_mem_bandwidth") hardware.slow_mem_bandwidth = read_bandwidth(field);
  if (name == "kernel_launch_cost") hardware.kernel_launch_cost = field.number(0, max_cycles);
  if (name == "max_fusion_depth")
    hardware.max_fusion_depth = static_cast<int>(field.integer(depths.min, depths.max));
}

}  // namespace

Hardware read_hardware(const JsonField& at) {
  at.only(hardware_fields);
  Hardware hardware;
  for (std::string_view name : hardware_fields) read_field(hardware, name, at.required(name));
  return hardware;
}

Hardware read_hardware(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source, {.object_only = true});
  return read_hardware(JsonField(json, source));
}

void set_hardware_field(Hardware& hardware, std::string_view assignment) {
  const std::string source = "--set";
  const std::size_t equals = assignment.find('=');
  const std::string_view name = assignment.substr(0, equals);
  const bool is_known =
      std::find(hardware_fields.begin(), hardware_fields.end(), name) != hardware_fields.end();
  if (equals == std::string_view::npos || !is_known)
    fail("{}: {} sets no hardware field; expected FIELD=VALUE with one of {}", source, quote(assignment),
         join_names(hardware_fields));
  const std::string named_source = fmt::format("{} {}", source, name);
  const std::string_view text = assignment.substr(equals + 1);
  if (name == "fast_mem_capacity") {
    hardware.fast_mem_capacity = read_integer(named_source, text, capacities);
  } else if (name == "max_fusion_depth") {
    hardware.max_fusion_depth = static_cast<int>(read_integer(named_source, text, depths));
  } else {
    const double number = read_number(named_source, text, {});
    const bool is_whole = std::abs(number) < 1e15 && number == std::floor(number);  // -1 is told as -1
    const Json value = is_whole ? Json(static_cast<std::int64_t>(number)) : Json(number);
    read_field(hardware, name, JsonField(value, named_source));
  }
}

std::string hardware_to_json(const Hardware& hardware) {
  return fmt::format(
      R"({{"fast_mem_capacity": {}, "slow_mem_bandwidth": {}, "kernel_launch_cost": {}, "max_fusion_depth": {}}})",
      hardware.fast_mem_capacity, json_number(hardware.slow_mem_bandwidth),
      json_number(hardware.kernel_launch_cost), hardware.max_fusion_depth);
}

}  // namespace fuselage
