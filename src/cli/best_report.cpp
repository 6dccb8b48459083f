#include "best_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/oracle/explain.h"
#include "fuselage/oracle/overflow.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/store_grid.h"
#include "grid_kernels.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using oracle::Record;

bool is_priced(const Record& record) {
  return record.price != walk::Price{};
}

// The weights that aren't zero: "traffic 0.5, launch 100".
std::string price_cell(const walk::Price& price) {
  std::vector<std::string> weights;
  if (price.traffic != 0) weights.push_back(fmt::format("traffic {}", price.traffic));
  if (price.launch != 0) weights.push_back(fmt::format("launch {}", price.launch));
  if (price.residency != 0) weights.push_back(fmt::format("residency {}", price.residency));
  return weights.empty() ? "-" : fmt::format("{}", fmt::join(weights, ", "));
}

std::string bound_cell(const Record& record) {
  return record.lower_bound > 0 ? cycles(record.lower_bound) : "-";
}

std::string gap_cell(const Record& record) {
  if (record.proof == search::Proof::optimal) return "0%";
  return record.lower_bound > 0 || record.cost == 0 ? gap_percent(record.gap()) : "-";
}

std::string proof_cell(search::Proof proof) {
  if (proof == search::Proof::optimal) return "optimal";
  return proof == search::Proof::none ? "not proven" : "best of space";
}

std::string short_key(const Record& record) {
  constexpr std::size_t digits = 12;
  return record.key.substr(0, digits);
}

std::string order_cell(const Record& record) {
  return record.is_grid() ? "-" : std::string(name(record.order));
}

std::string walk_heading(const Record& record, const walk::PlanFile& plan) {
  const Hardware& hardware = plan.workload.hardware;
  return fmt::format(
      "{}: {} ops in {} kernels; rules {}, order {}\n"
      "machine: {} B of fast memory, {} B per cycle, {} cycles a launch, up to {} nodes a kernel\n",
      record.name, grouped(std::int64_t{record.ops}), grouped(std::uint64_t{plan.kernels.size()}),
      name(record.rules), name(record.order), grouped(hardware.fast_mem_capacity),
      hardware.slow_mem_bandwidth, hardware.kernel_launch_cost, hardware.max_fusion_depth);
}

std::string grid_heading(const Record& record, const oracle::GridRecordPlan& plan) {
  const grid::Machine& machine = plan.instance.machine();
  return fmt::format(
      "{}: {} ops in {} kernels; rules {}\n"
      "machine: {} elements of fast memory, {} elements per time unit, native {} x {}\n",
      record.name, grouped(std::int64_t{record.ops}), grouped(std::uint64_t{plan.file.plan.kernels.size()}),
      oracle::rules_text(record), grouped(machine.capacity), machine.bandwidth, machine.native_width,
      machine.native_height);
}

// Figures and origin, the same for both families.
std::string figures(const Record& record) {
  std::string text;
  if (is_priced(record))
    text += fmt::format("price: {} on top of a latency of {} cycles\n", price_cell(record.price),
                        cycles(record.latency));
  text += fmt::format("best: {}{}, {}; bound {}, gap {}\n", cycles(record.cost),
                      record.is_grid() ? "" : " cycles", proof_cell(record.proof), bound_cell(record),
                      gap_cell(record));
  text += fmt::format("found: by {}, {}, budget {}, fuselage {}\n", record.engine, record.time,
                      record.budget.empty() ? "none" : record.budget, record.version);
  return text + fmt::format("key: {}\n\n", record.key);
}

}  // namespace

std::string best_table(const std::vector<BestRow>& rows) {
  const bool priced =
      std::any_of(rows.begin(), rows.end(), [](const BestRow& row) { return is_priced(row.record); });
  std::vector<Column> columns = {
      {"name", Align::left}, {"ops"}, {"rules", Align::left}, {"order", Align::left}};
  if (priced) columns.push_back({"price", Align::left});
  for (const Column& column : std::vector<Column>{{"best"},
                                                  {"bound"},
                                                  {"gap"},
                                                  {"proof", Align::left},
                                                  {"engine", Align::left},
                                                  {"when", Align::left},
                                                  {"key", Align::left}})
    columns.push_back(column);
  Table table(std::move(columns));
  bool overflowing = false;
  for (const auto& [record, overflows] : rows) {
    overflowing = overflowing || overflows > 0;
    std::vector<std::string> cells = {record.name, grouped(std::int64_t{record.ops}),
                                      oracle::rules_text(record), order_cell(record)};
    if (priced) cells.push_back(price_cell(record.price));
    for (std::string cell : {cycles(record.cost), bound_cell(record), gap_cell(record),
                             proof_cell(record.proof), record.engine, record.time, short_key(record)})
      cells.push_back(std::move(cell));
    if (overflows > 0) cells[cells.size() - 4] += ", " + oracle::overflow_words(overflows);
    table.add(std::move(cells));
  }
  return table.text() + (overflowing ? "\n" + oracle::overflow_meaning() + ".\n" : "");
}

std::string best_line(const Record& record) {
  std::string text =
      fmt::format("{}  {}, rules {}", short_key(record), record.name, oracle::rules_text(record));
  if (!record.is_grid()) text += fmt::format(", order {}", name(record.order));
  if (is_priced(record)) text += fmt::format(", price {}", price_cell(record.price));
  return text;
}

std::string best_details(const Record& record, const std::string& where) {
  if (record.is_grid()) {
    const oracle::GridRecordPlan plan = oracle::checked_grid_plan(record, where);
    return grid_heading(record, plan) + figures(record) +
           grid_kernels_table(plan.instance.machine(), plan.file, plan.evaluation);
  }
  const walk::PlanFile plan = oracle::checked_plan(record, where);
  const oracle::Simulation simulation = oracle::simulate(
      plan.workload.graph, plan.workload.hardware, plan.kernels, {.rules = plan.rules, .order = plan.order});
  return walk_heading(record, plan) + figures(record) +
         oracle::explain_table(plan.workload.graph, plan.workload.hardware, plan.kernels, simulation) +
         oracle::overflow_line(oracle::overflows(simulation));
}

}  // namespace fuselage::cli
