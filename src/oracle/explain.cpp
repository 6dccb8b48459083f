#include "fuselage/oracle/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <vector>

#include "fuselage/oracle/overflow.h"
#include "simulate_detail.h"

namespace fuselage::oracle {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t longest_list = 24;  // characters of a cell before it is cut
constexpr std::size_t longest_ops = 32;

std::int64_t bytes_of(const Graph& graph, const std::vector<NodeId>& tensors) {
  std::int64_t sum = 0;
  for (NodeId id : tensors) sum = detail::add_bytes(sum, graph.bytes(id));
  return sum;
}

double share(std::int64_t working_set, const Hardware& hardware) {
  return hardware.fast_mem_capacity > 0
             ? static_cast<double>(working_set) / static_cast<double>(hardware.fast_mem_capacity)
             : 0.0;
}

struct Totals {
  double compute_cycles = 0;
  double memory_cycles = 0;
  std::int64_t load_bytes = 0;
  std::int64_t store_bytes = 0;
  std::int64_t largest_working_set = 0;
  int nodes = 0;
  int launches = 0;
};

Totals totals_of(const Graph& graph, const walk::Plan& plan, const Simulation& simulation) {
  Totals totals;
  for (std::size_t i = 0; i < simulation.kernels.size(); ++i) {
    const KernelReport& report = simulation.kernels[i];
    totals.compute_cycles += report.compute_cycles;
    totals.memory_cycles += report.memory_cycles;
    totals.load_bytes = detail::add_bytes(totals.load_bytes, bytes_of(graph, report.loads));
    totals.store_bytes = detail::add_bytes(totals.store_bytes, bytes_of(graph, report.writes));
    totals.largest_working_set = std::max(totals.largest_working_set, report.working_set);
    totals.nodes += static_cast<int>(plan[i].nodes.size());
    totals.launches += report.launches;
  }
  return totals;
}

// Text that stands for some items of a list, such as a range of ids.
struct Part {
  std::string text;
  std::size_t items = 1;
};

// Joins parts until the text would be too long, then says how many items are left out; the last part is never
// the only one left out.
std::string join(const std::vector<Part>& parts, char separator, std::size_t longest) {
  std::size_t left = 0;
  for (const Part& part : parts) left += part.items;
  std::string text;
  for (const Part& part : parts) {
    const bool last = left == part.items;
    if (!text.empty() && !last && text.size() + 1 + part.text.size() > longest)
      return text + fmt::format("{}... ({} more)", separator, left);
    if (!text.empty()) text += separator;
    text += part.text;
    left -= part.items;
  }
  return text.empty() ? "-" : text;
}

// "4-8" for a run of at least three, "4,6,7" otherwise, in the order given.
std::string id_list(std::span<const NodeId> ids) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t end = i + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    if (end - i >= 3) {
      parts.push_back({fmt::format("{}-{}", ids[i], ids[end - 1]), end - i});
      i = end;
    } else {
      for (; i < end; ++i) parts.push_back({fmt::format("{}", ids[i])});
    }
  }
  return join(parts, ',', longest_list);
}

std::string op_list(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<Part> parts;
  parts.reserve(nodes.size());
  for (NodeId id : nodes) parts.push_back({std::string(name(graph.node(id).op))});
  return join(parts, '+', longest_ops);
}

constexpr std::size_t columns = 12;
using Row = std::array<std::string, columns>;
constexpr std::array<bool, columns> left_aligned = {false, true,  true,  false, true, true,
                                                    true,  false, false, false, true, false};

std::string working_set_cell(std::int64_t working_set, const Hardware& hardware) {
  return fmt::format("{} ({:.0f}%)", working_set, 100 * share(working_set, hardware));
}

std::vector<Row> table_rows(const Graph& graph, const Hardware& hardware, const walk::Plan& plan,
                            const Simulation& simulation) {
  std::vector<Row> rows;
  rows.push_back({"kernel", "nodes", "ops", "tile", "loads", "stores", "retained", "compute", "memory",
                  "latency", "bound", fmt::format("working set (of {} B)", hardware.fast_mem_capacity)});
  for (std::size_t i = 0; i < simulation.kernels.size(); ++i) {
    const KernelReport& report = simulation.kernels[i];
    const walk::PlanKernel& kernel = plan[i];
    rows.push_back({fmt::format("{}", i), id_list(kernel.nodes), op_list(graph, kernel.nodes),
                    fmt::format("{}", report.fallback ? walk::default_tile : kernel.tile),
                    id_list(report.loads), id_list(report.writes),
                    report.fallback ? "-" : id_list(kernel.retain),
                    fmt::format("{:.2f}", report.compute_cycles), fmt::format("{:.2f}", report.memory_cycles),
                    fmt::format("{:.2f}", report.latency), std::string(bound_of(report)),
                    working_set_cell(report.working_set, hardware)});
  }
  const Totals totals = totals_of(graph, plan, simulation);
  rows.push_back({"total", fmt::format("{} of {}", totals.nodes, graph.size()),
                  fmt::format("{} launches", totals.launches), "", fmt::format("{} B", totals.load_bytes),
                  fmt::format("{} B", totals.store_bytes), "", fmt::format("{:.2f}", totals.compute_cycles),
                  fmt::format("{:.2f}", totals.memory_cycles), fmt::format("{:.2f}", simulation.latency), "",
                  working_set_cell(totals.largest_working_set, hardware)});
  return rows;
}

ordered_json kernel_json(const Graph& graph, const Hardware& hardware, const walk::PlanKernel& kernel,
                         const KernelReport& report) {
  ordered_json ops = ordered_json::array();
  for (NodeId id : kernel.nodes) ops.push_back(name(graph.node(id).op));
  return {{"nodes", kernel.nodes},
          {"ops", std::move(ops)},
          {"tile", kernel.tile},
          {"retain", kernel.retain},
          {"loads", report.loads},
          {"load_bytes", bytes_of(graph, report.loads)},
          {"stores", report.writes},
          {"store_bytes", bytes_of(graph, report.writes)},
          {"resident_after", report.resident_after},
          {"compute_cycles", report.compute_cycles},
          {"memory_cycles", report.memory_cycles},
          {"latency", report.latency},
          {"bound", bound_of(report)},
          {"launches", report.launches},
          {"working_set", report.working_set},
          {"working_set_share", share(report.working_set, hardware)}};
}

}  // namespace

std::string_view bound_of(const KernelReport& report) {
  if (report.fallback) return "fallback";
  return report.memory_cycles > report.compute_cycles ? "memory" : "compute";
}

std::string explain_table(const Graph& graph, const Hardware& hardware, const walk::Plan& plan,
                          const Simulation& simulation) {
  assert(simulation.kernels.size() <= plan.size());
  const std::vector<Row> rows = table_rows(graph, hardware, plan, simulation);
  std::array<std::size_t, columns> widths = {};
  for (const Row& row : rows)
    for (std::size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < columns; ++c) {
      if (c > 0) text += "  ";
      text += left_aligned[c] ? fmt::format("{:<{}}", row[c], widths[c])
                              : fmt::format("{:>{}}", row[c], widths[c]);
    }
    text += '\n';
  }
  if (simulation.fault)
    text += fmt::format("illegal, {}: {}\n", name(simulation.fault->code), simulation.fault->message);
  return text;
}

ordered_json explain_json(const Graph& graph, const Hardware& hardware, const walk::Plan& plan,
                          const Simulation& simulation) {
  assert(simulation.kernels.size() <= plan.size());
  ordered_json result = {{"legal", simulation.legal()}};
  if (const auto& fault = simulation.fault)
    result["fault"] = {{"code", name(fault->code)},
                       {"kernel", fault->kernel ? ordered_json(*fault->kernel) : ordered_json(nullptr)},
                       {"message", fault->message}};
  result["capacity"] = hardware.fast_mem_capacity;
  result["overflows"] = overflows(simulation);
  result["kernels"] = ordered_json::array();
  for (std::size_t i = 0; i < simulation.kernels.size(); ++i)
    result["kernels"].push_back(kernel_json(graph, hardware, plan[i], simulation.kernels[i]));
  const Totals totals = totals_of(graph, plan, simulation);
  result["totals"] = {{"latency", simulation.latency},
                      {"compute_cycles", totals.compute_cycles},
                      {"memory_cycles", totals.memory_cycles},
                      {"load_bytes", totals.load_bytes},
                      {"store_bytes", totals.store_bytes},
                      {"launches", totals.launches},
                      {"nodes", totals.nodes},
                      {"largest_working_set", totals.largest_working_set}};
  return result;
}

}  // namespace fuselage::oracle
