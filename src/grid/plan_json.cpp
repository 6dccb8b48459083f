#include "fuselage/grid/plan_json.h"

#include <array>
#include <cassert>
#include <optional>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"

namespace fuselage::grid {
namespace {

constexpr std::array<std::string_view, 5> plan_fields = {"subgraphs", "granularities", "tensors_to_retain",
                                                         "traversal_orders", "subgraph_latencies"};

std::int64_t read_int64(const JsonField& field) {
  return field.integer(std::numeric_limits<std::int64_t>::min());
}

std::vector<std::int32_t> read_ids(const JsonField& list) {
  std::vector<std::int32_t> ids(list.array_size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<std::int32_t>(list.element(i).integer(std::numeric_limits<std::int32_t>::min(),
                                                               std::numeric_limits<std::int32_t>::max()));
  return ids;
}

Granularity read_granularity(const JsonField& field) {
  if (field.array_size() != 3) field.refuse("is no granularity", "[w, h, k]");
  return {.w = read_int64(field.element(0)),
          .h = read_int64(field.element(1)),
          .k = read_int64(field.element(2))};
}

std::optional<std::vector<std::int64_t>> read_traversal(const JsonField& field) {
  if (field.is_null()) return std::nullopt;
  std::vector<std::int64_t> tiles(field.array_size());
  for (std::size_t i = 0; i < tiles.size(); ++i) tiles[i] = read_int64(field.element(i));
  return tiles;
}

void check_length(const JsonField& list, std::size_t kernels) {
  if (list.array_size() != kernels)
    list.refuse(
        fmt::format("its length is {}; expected {}, the length of subgraphs", list.array_size(), kernels));
}

std::string traversal_to_json(const Kernel& kernel) {
  return kernel.traversal ? fmt::format("[{}]", fmt::join(*kernel.traversal, ", ")) : "null";
}

}  // namespace

PlanFile read_plan(const JsonField& plan) {
  plan.only(plan_fields);
  const JsonField subgraphs = plan.required("subgraphs");
  const JsonField granularities = plan.required("granularities");
  const JsonField retain = plan.required("tensors_to_retain");
  const auto traversals = plan.optional("traversal_orders");
  const auto latencies = plan.optional("subgraph_latencies");
  PlanFile file;
  file.plan.kernels.resize(subgraphs.array_size());
  const std::size_t count = file.plan.kernels.size();
  check_length(granularities, count);
  check_length(retain, count);
  if (traversals) check_length(*traversals, count);
  if (latencies) check_length(*latencies, count);
  for (std::size_t i = 0; i < count; ++i) {
    Kernel& kernel = file.plan.kernels[i];
    kernel.ops = read_ids(subgraphs.element(i));
    kernel.granularity = read_granularity(granularities.element(i));
    kernel.retain = read_ids(retain.element(i));
    if (traversals) kernel.traversal = read_traversal(traversals->element(i));
    if (latencies) file.latencies.push_back(latencies->element(i).number(0));
  }
  return file;
}

PlanFile read_plan(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source, {.object_only = true});
  return read_plan(JsonField(json, source));
}

PlanFile read_plan_file(const std::string& path) {
  return read_plan(read_file(path), source_name(path));
}

std::string plan_to_json(const Plan& plan, std::span<const double> latencies) {
  assert(latencies.empty() || latencies.size() == plan.kernels.size());
  std::string text;
  const auto add = [&](std::string_view key, auto write) {
    text += fmt::format("{}  \"{}\": [", text.empty() ? "{\n" : ",\n", key);
    for (std::size_t i = 0; i < plan.kernels.size(); ++i) text += (i == 0 ? "\n    " : ",\n    ") + write(i);
    text += plan.kernels.empty() ? "]" : "\n  ]";
  };
  const auto& kernels = plan.kernels;
  add("subgraphs", [&](std::size_t i) { return fmt::format("[{}]", fmt::join(kernels[i].ops, ", ")); });
  add("granularities", [&](std::size_t i) {
    const Granularity& tile = kernels[i].granularity;
    return fmt::format("[{}, {}, {}]", tile.w, tile.h, tile.k);
  });
  add("tensors_to_retain",
      [&](std::size_t i) { return fmt::format("[{}]", fmt::join(kernels[i].retain, ", ")); });
  add("traversal_orders", [&](std::size_t i) { return traversal_to_json(kernels[i]); });
  if (!latencies.empty()) add("subgraph_latencies", [&](std::size_t i) { return json_number(latencies[i]); });
  return text + "\n}\n";
}

}  // namespace fuselage::grid
