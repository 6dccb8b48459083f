#include "grid_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "fuselage/oracle/grid_limits.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::Limit;
using oracle::limit_names;
using oracle::limit_of;
using oracle::memory_time;
using oracle::working_set_share;

struct Row {
  const grid::Machine& machine;
  const grid::PlanFile& file;
  const grid::KernelReport& report;
  std::size_t number = 0;

  const grid::Kernel& kernel() const { return file.plan.kernels[number]; }
};

std::vector<Row> rows_of(const grid::Machine& machine, const grid::PlanFile& file,
                         const grid::Evaluation& evaluation) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < evaluation.kernels.size(); ++i)
    rows.push_back({.machine = machine, .file = file, .report = evaluation.kernels[i], .number = i});
  return rows;
}

// Whole numbers, as long as a double holds them.
std::string elements(double count) {
  constexpr double most = 1e15;
  return count < most ? grouped(static_cast<std::int64_t>(count)) : cycles(count);
}

template <class Id>
std::string ids_text(const std::vector<Id>& ids) {
  constexpr std::size_t most = 8;
  if (ids.empty()) return "-";
  if (ids.size() <= most) return fmt::format("{}", fmt::join(ids, ","));
  return fmt::format("{},... ({} in all)", fmt::join(ids.begin(), ids.begin() + most, ","), ids.size());
}

std::string traversal_text(const std::optional<std::vector<std::int64_t>>& order) {
  const auto known = oracle::traversal_name(order);
  return known ? std::string(*known) : ids_text(*order);
}

// ---- columns

struct ColumnOf {
  const char* name;
  Align align;
  std::string (*cell)(const Row&);
};

constexpr ColumnOf number_column = {"kernel", Align::right,
                                    [](const Row& row) { return fmt::format("{}", row.number); }};
constexpr ColumnOf ops_column = {"ops", Align::left,
                                 [](const Row& row) { return ids_text(row.kernel().ops); }};
constexpr ColumnOf tile_column = {"w x h x k", Align::right, [](const Row& row) {
                                    const grid::Granularity& tile = row.kernel().granularity;
                                    return fmt::format("{} x {} x {}", tile.w, tile.h, tile.k);
                                  }};
constexpr ColumnOf retain_column = {"retain", Align::left,
                                    [](const Row& row) { return ids_text(row.kernel().retain); }};
constexpr ColumnOf tiles_column = {"tiles", Align::right,
                                   [](const Row& row) { return grouped(row.report.tiles); }};
constexpr ColumnOf k_steps_column = {"k-steps", Align::right,
                                     [](const Row& row) { return grouped(row.report.k_steps); }};
constexpr ColumnOf traversal_column = {"traversal", Align::left,
                                       [](const Row& row) { return traversal_text(row.kernel().traversal); }};
constexpr ColumnOf loaded_column = {"loaded", Align::right,
                                    [](const Row& row) { return elements(row.report.loaded()); }};
constexpr ColumnOf stored_column = {"stored", Align::right,
                                    [](const Row& row) { return elements(row.report.stored); }};
constexpr ColumnOf moved_column = {"moved", Align::right,
                                   [](const Row& row) { return cycles(row.report.transferred); }};
constexpr ColumnOf compute_column = {"compute", Align::right,
                                     [](const Row& row) { return cycles(row.report.compute); }};
constexpr ColumnOf memory_column = {
    "memory", Align::right, [](const Row& row) { return cycles(memory_time(row.report, row.machine)); }};
constexpr ColumnOf latency_column = {"latency", Align::right,
                                     [](const Row& row) { return cycles(row.report.latency); }};
constexpr ColumnOf bound_column = {"bound", Align::left, [](const Row& row) {
                                     const Limit limit = limit_of(row.report, row.machine);
                                     return std::string(name(limit));
                                   }};
constexpr ColumnOf working_set_column = {"working set", Align::right,
                                         [](const Row& row) { return grouped(row.report.working_set); }};
constexpr ColumnOf share_column = {
    "of capacity", Align::right,
    [](const Row& row) { return fmt::format("{:.0f}%", 100 * working_set_share(row.report, row.machine)); }};
constexpr ColumnOf stated_column = {"stated", Align::right,
                                    [](const Row& row) { return cycles(row.file.latencies[row.number]); }};

constexpr std::array plain_columns = {number_column,  ops_column,        tile_column,    retain_column,
                                      tiles_column,   k_steps_column,    compute_column, moved_column,
                                      latency_column, working_set_column};
constexpr std::array explain_columns = {number_column, ops_column,         tile_column,   traversal_column,
                                        tiles_column,  k_steps_column,     loaded_column, stored_column,
                                        retain_column, compute_column,     memory_column, latency_column,
                                        bound_column,  working_set_column, share_column};

class KernelsTable {
 public:
  KernelsTable(std::span<const ColumnOf> columns, const std::vector<Row>& rows, bool states)
      : columns_(columns.begin(), columns.end()), table_({}) {
    if (states) columns_.push_back(stated_column);
    std::vector<Column> headers;
    for (const ColumnOf& column : columns_) headers.push_back({column.name, column.align});
    table_ = Table(std::move(headers));
    for (const Row& row : rows) {
      std::vector<std::string> cells;
      for (const ColumnOf& column : columns_) cells.push_back(column.cell(row));
      table_.add(std::move(cells));
    }
  }
  // A row with cells for the columns that are named, the others empty.
  void add(const std::vector<std::pair<std::string_view, std::string>>& named) {
    std::vector<std::string> cells(columns_.size());
    for (const auto& [name, text] : named)
      for (std::size_t i = 0; i < columns_.size(); ++i)
        if (columns_[i].name == name) cells[i] = text;
    table_.add(std::move(cells));
  }
  std::string text() const { return table_.text(); }

 private:
  std::vector<ColumnOf> columns_;
  Table table_;
};

// ---- totals

struct Totals {
  double compute = 0;  // time units
  double memory = 0;
  double latency = 0;
  double loaded = 0;  // elements
  double stored = 0;
  std::size_t runs = 0;      // of ops
  std::set<grid::OpId> ops;  // that ran
  std::int64_t largest_working_set = 0;
  std::array<double, limit_names.size()> limited = {};  // latency, by Limit
  std::array<int, limit_names.size()> kernels = {};     // by Limit
};

void add(Totals& totals, const grid::KernelReport& report, const grid::Machine& machine) {
  totals.compute += report.compute;
  totals.memory += memory_time(report, machine);
  totals.latency += report.latency;
  totals.loaded += report.loaded();
  totals.stored += report.stored;
  totals.largest_working_set = std::max(totals.largest_working_set, report.working_set);
  const auto limit = static_cast<std::size_t>(limit_of(report, machine));
  totals.limited[limit] += report.latency;
  ++totals.kernels[limit];
}

Totals totals_of(const std::vector<Row>& rows) {
  Totals totals;
  for (const Row& row : rows) {
    add(totals, row.report, row.machine);
    totals.runs += row.kernel().ops.size();
    totals.ops.insert(row.kernel().ops.begin(), row.kernel().ops.end());
  }
  return totals;
}

ordered_json kernel_json(const Row& row) {
  const grid::Kernel& kernel = row.kernel();
  const grid::KernelReport& report = row.report;
  const grid::Granularity& tile = kernel.granularity;
  ordered_json json = {{"ops", kernel.ops},
                       {"granularity", {tile.w, tile.h, tile.k}},
                       {"traversal", nullptr},
                       {"retain", kernel.retain},
                       {"tiles", report.tiles},
                       {"k_steps", report.k_steps},
                       {"compute", report.compute},
                       {"memory", memory_time(report, row.machine)},
                       {"bound", name(limit_of(report, row.machine))},
                       {"transferred", report.transferred},
                       {"loaded", report.loaded()},
                       {"stored", report.stored},
                       {"latency", report.latency},
                       {"working_set", report.working_set},
                       {"working_set_share", working_set_share(report, row.machine)},
                       {"stated_latency", nullptr}};
  if (kernel.traversal) json["traversal"] = *kernel.traversal;
  if (!row.file.latencies.empty()) json["stated_latency"] = row.file.latencies[row.number];
  return json;
}

}  // namespace

std::string grid_kernels_table(const grid::Machine& machine, const grid::PlanFile& file,
                               const grid::Evaluation& evaluation) {
  return KernelsTable(plain_columns, rows_of(machine, file, evaluation), !file.latencies.empty()).text();
}

std::string grid_explain_table(const grid::Instance& instance, const grid::PlanFile& file,
                               const grid::Evaluation& evaluation) {
  const std::vector<Row> rows = rows_of(instance.machine(), file, evaluation);
  KernelsTable table(explain_columns, rows, !file.latencies.empty());
  const Totals totals = totals_of(rows);
  const std::size_t again = totals.runs - totals.ops.size();
  const std::string ops = fmt::format("{} of {}", totals.ops.size(), instance.op_count());
  table.add({{"kernel", "total"},
             {"ops", again == 0 ? ops : fmt::format("{}, {} again", ops, again)},
             {"loaded", elements(totals.loaded)},
             {"stored", elements(totals.stored)},
             {"compute", cycles(totals.compute)},
             {"memory", cycles(totals.memory)},
             {"latency", cycles(totals.latency)},
             {"working set", grouped(totals.largest_working_set)}});
  return table.text();
}

ordered_json grid_kernels_json(const grid::Machine& machine, const grid::PlanFile& file,
                               const grid::Evaluation& evaluation) {
  ordered_json json = ordered_json::array();
  for (const Row& row : rows_of(machine, file, evaluation)) json.push_back(kernel_json(row));
  return json;
}

ordered_json grid_totals_json(const grid::Instance& instance, const grid::PlanFile& file,
                              const grid::Evaluation& evaluation) {
  const Totals totals = totals_of(rows_of(instance.machine(), file, evaluation));
  ordered_json limited;
  for (std::size_t i = 0; i < limit_names.size(); ++i)
    limited[std::string(limit_names[i])] = totals.limited[i];
  return {{"latency", totals.latency},       {"compute", totals.compute},
          {"memory", totals.memory},         {"loaded", totals.loaded},
          {"stored", totals.stored},         {"ops", totals.ops.size()},
          {"ops_run", totals.runs},          {"largest_working_set", totals.largest_working_set},
          {"limited_by", std::move(limited)}};
}

std::string grid_limits_text(const grid::Machine& machine, const grid::Evaluation& evaluation) {
  Totals totals;
  for (const grid::KernelReport& report : evaluation.kernels) add(totals, report, machine);
  std::string text;
  for (const Limit limit : {Limit::memory, Limit::compute, Limit::both}) {
    const auto at = static_cast<std::size_t>(limit);
    if (totals.kernels[at] == 0) continue;
    const double share = totals.latency > 0 ? totals.limited[at] / totals.latency : 0;
    text += fmt::format("{}by {}: {} %{}, {} kernel{}", text.empty() ? "limited " : "; ", limit_names[at],
                        percent(share), text.empty() ? " of the latency" : "", totals.kernels[at],
                        totals.kernels[at] == 1 ? "" : "s");
  }
  return text.empty() ? text : text + '\n';
}

}  // namespace fuselage::cli
