#include "habits_report.h"

#include <fmt/format.h>

#include "report_cells.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::Habits;
using oracle::Rate;

constexpr const char* legend =
    "fuse %: of the nodes that could join the open kernel. keep %: of the tensors that could be retained "
    "when\n"
    "a kernel closes (made or loaded by it, read again later, fitting), also by the nodes until the next "
    "read\n"
    "(d) and by how full fast memory is (m). depends: how much of that choice follows from both, 0 as by "
    "lot,\n"
    "1 entirely; '-': all alike. near, room: chance that a retained tensor is read sooner, or is retained "
    "at\n"
    "less pressure, than one that wasn't; 0.5: no preference.\n";

std::string rate(const Rate& of) {
  const auto value = of.value();
  return value ? fmt::format("{:.1f}", 100 * *value) : "-";
}

ordered_json rate_json(const Rate& of) {
  return {{"done", of.done}, {"could", of.could}, {"rate", number_or_null(of.value())}};
}

}  // namespace

std::string habits_table(const std::vector<HabitsRow>& rows) {
  std::vector<Column> columns = {
      {"policy", Align::left}, {"rules", Align::left}, {"fuse %"}, {"of"}, {"keep %"}, {"of"}};
  for (std::string_view name : oracle::distance_names) columns.push_back({fmt::format("d {}", name)});
  for (std::string_view name : oracle::pressure_names) columns.push_back({fmt::format("m {}", name)});
  for (const char* name : {"depends", "near", "room"}) columns.push_back({name});
  Table table(columns);
  for (const HabitsRow& row : rows) {
    const Habits& habits = row.habits;
    std::vector<std::string> cells = {row.policy + (row.reference ? " (reference)" : ""),
                                      std::string(walk::name(row.rules)),
                                      rate(habits.fusion),
                                      grouped(habits.fusion.could),
                                      rate(habits.retention()),
                                      grouped(habits.retention().could)};
    for (std::size_t d = 0; d < oracle::distance_names.size(); ++d)
      cells.push_back(rate(habits.retention_at_distance(d)));
    for (std::size_t p = 0; p < oracle::pressure_names.size(); ++p)
      cells.push_back(rate(habits.retention_at_pressure(p)));
    for (const auto& value : {habits.dependence(), habits.prefers_near(), habits.prefers_room()})
      cells.push_back(decimal(value));
    table.add(std::move(cells));
  }
  return table.text() + '\n' + legend;
}

ordered_json habits_json(const Habits& habits) {
  ordered_json json = {{"fusion", rate_json(habits.fusion)},
                       {"retention", rate_json(habits.retention())},
                       {"retention_by_distance", ordered_json::object()},
                       {"retention_by_pressure", ordered_json::object()},
                       {"retention_cells", ordered_json::array()}};
  for (std::size_t d = 0; d < oracle::distance_names.size(); ++d)
    json["retention_by_distance"][std::string(oracle::distance_names[d])] =
        rate_json(habits.retention_at_distance(d));
  for (std::size_t p = 0; p < oracle::pressure_names.size(); ++p)
    json["retention_by_pressure"][std::string(oracle::pressure_names[p])] =
        rate_json(habits.retention_at_pressure(p));
  for (std::size_t d = 0; d < oracle::distance_names.size(); ++d)
    for (std::size_t p = 0; p < oracle::pressure_names.size(); ++p)
      json["retention_cells"].push_back({{"distance", oracle::distance_names[d]},
                                         {"pressure", oracle::pressure_names[p]},
                                         {"done", habits.retention_cells[d][p].done},
                                         {"could", habits.retention_cells[d][p].could}});
  json["dependence"] = number_or_null(habits.dependence());
  json["prefers_near"] = number_or_null(habits.prefers_near());
  json["prefers_room"] = number_or_null(habits.prefers_room());
  return json;
}

}  // namespace fuselage::cli
