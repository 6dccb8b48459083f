#include "grid_kernels.h"

#include <fmt/format.h>

#include <vector>

#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

std::string ids_text(const std::vector<std::int32_t>& ids) {
  constexpr std::size_t most = 8;
  if (ids.empty()) return "-";
  if (ids.size() <= most) return fmt::format("{}", fmt::join(ids, ","));
  return fmt::format("{},... ({} in all)", fmt::join(ids.begin(), ids.begin() + most, ","), ids.size());
}

ordered_json kernel_json(const grid::PlanFile& file, const grid::KernelReport& report, std::size_t i) {
  const grid::Kernel& kernel = file.plan.kernels[i];
  const grid::Granularity& tile = kernel.granularity;
  ordered_json json = {{"ops", kernel.ops},
                       {"granularity", {tile.w, tile.h, tile.k}},
                       {"retain", kernel.retain},
                       {"tiles", report.tiles},
                       {"k_steps", report.k_steps},
                       {"compute", report.compute},
                       {"transferred", report.transferred},
                       {"latency", report.latency},
                       {"working_set", report.working_set},
                       {"stated_latency", nullptr}};
  if (!file.latencies.empty()) json["stated_latency"] = file.latencies[i];
  return json;
}

}  // namespace

std::string grid_kernels_table(const grid::PlanFile& file, const grid::Evaluation& evaluation) {
  const bool states = !file.latencies.empty();
  std::vector<Column> columns = {{"kernel"},  {"ops", Align::left}, {"w x h x k"}, {"retain", Align::left},
                                 {"tiles"},   {"k-steps"},          {"compute"},   {"moved"},
                                 {"latency"}, {"working set"}};
  if (states) columns.push_back({"stated"});
  Table table(columns);
  for (std::size_t i = 0; i < evaluation.kernels.size(); ++i) {
    const grid::Kernel& kernel = file.plan.kernels[i];
    const grid::KernelReport& report = evaluation.kernels[i];
    const grid::Granularity& tile = kernel.granularity;
    std::vector<std::string> cells = {fmt::format("{}", i),
                                      ids_text(kernel.ops),
                                      fmt::format("{} x {} x {}", tile.w, tile.h, tile.k),
                                      ids_text(kernel.retain),
                                      grouped(report.tiles),
                                      grouped(report.k_steps),
                                      cycles(report.compute),
                                      cycles(report.transferred),
                                      cycles(report.latency),
                                      grouped(report.working_set)};
    if (states) cells.push_back(cycles(file.latencies[i]));
    table.add(std::move(cells));
  }
  return table.text();
}

ordered_json grid_kernels_json(const grid::PlanFile& file, const grid::Evaluation& evaluation) {
  ordered_json rows = ordered_json::array();
  for (std::size_t i = 0; i < evaluation.kernels.size(); ++i)
    rows.push_back(kernel_json(file, evaluation.kernels[i], i));
  return rows;
}

}  // namespace fuselage::cli
