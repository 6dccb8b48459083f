// What is it worth to choose the order too? The optimum under `physical` in the fixed order and over all
// topological orders.

#include <fmt/format.h>

#include <array>
#include <utility>

#include "down_sets.h"
#include "experiment.h"
#include "fuselage/core/json.h"
#include "fuselage/walk/tasks.h"
#include "measure.h"
#include "sets.h"

namespace fuselage::experiments {
namespace {

constexpr int all_graphs = 100;
constexpr double limit_seconds = 60;
constexpr std::uint64_t limit_bytes = std::uint64_t{8} << 30;  // of search states

struct Comparison {
  Measured fixed_order;
  Measured free_order;
  std::optional<std::uint64_t> down_sets;

  bool both_found() const { return fixed_order.found && free_order.found; }
  bool both_proven() const { return fixed_order.optimal && free_order.optimal; }
  double gain() const { return 1 - free_order.cost / fixed_order.cost; }
};

GraphSet fixed_tasks() {
  GraphSet set = {.name = "tasks", .seeds = {}, .samples = {}};
  for (const walk::TaskSpec& task : walk::tasks())
    set.samples.push_back(
        {walk::make_task(task), walk::name(task.options.topology), walk::name(task.options.difficulty)});
  return set;
}

Comparison compare(const Workload& workload, double seconds, int threads) {
  oracle::SolveOptions options = {.rules = walk::Rules::physical, .order = walk::Order::fixed};
  options.threads = threads;
  options.budget.wall_seconds = seconds;
  options.budget.bytes = limit_bytes;
  const auto make = [&] { return workload; };
  Comparison comparison;
  comparison.fixed_order = watch_in_child(make, options);
  options.order = walk::Order::free;
  comparison.free_order = watch_in_child(make, options);
  comparison.down_sets = count_down_sets(workload.graph);
  return comparison;
}

std::string cost_cell(const Measured& m) {
  return m.found ? json_number(m.cost) : "";
}

std::string down_sets_cell(const Comparison& c) {
  return c.down_sets ? std::to_string(*c.down_sets) : fmt::format("> {}", most_down_sets);
}

std::vector<std::string> row(const GraphSet& set, const Sample& sample, const Comparison& c) {
  return {sample.workload.name,
          set.name,
          std::string(sample.kind),
          std::to_string(sample.workload.graph.size()),
          std::string(sample.machine),
          cost_cell(c.fixed_order),
          c.fixed_order.proof,
          cost_cell(c.free_order),
          c.free_order.proof,
          c.free_order.stop,
          json_number(c.free_order.lower_bound),
          c.both_found() ? percent(c.gain(), 4) : "",
          down_sets_cell(c),
          std::to_string(c.fixed_order.steps),
          std::to_string(c.free_order.steps),
          milliseconds(c.fixed_order.seconds),
          milliseconds(c.free_order.seconds),
          mebibytes(c.free_order.peak_bytes)};
}

// One graph a line, for the few that have a name of their own.
void add_single(const Sample& sample, const Comparison& c, Table& singles) {
  singles.add({sample.workload.name, std::to_string(sample.workload.graph.size()), down_sets_cell(c),
               c.fixed_order.found ? fixed(c.fixed_order.cost, 2) : "",
               c.free_order.found ? fixed(c.free_order.cost, 2) : "", c.both_found() ? percent(c.gain()) : "",
               yes_no(c.both_proven()), milliseconds(c.fixed_order.seconds),
               milliseconds(c.free_order.seconds), mebibytes(c.free_order.peak_bytes)});
}

struct Tally {
  std::string of;
  int graphs = 0;
  int proven = 0;
  int gaining = 0;
  std::vector<double> gains = {};
  std::vector<double> seconds = {};

  void count(const Comparison& c) {
    ++graphs;
    seconds.push_back(c.free_order.seconds);
    if (c.both_proven()) ++proven;
    if (!c.both_found()) return;
    gains.push_back(c.gain());
    if (c.gain() > 1e-9) ++gaining;
  }
};

Table group_table(const std::vector<Tally>& tallies) {
  Table table(
      {"generated graphs", "proven", "with a gain", "mean gain %", "max gain %", "free: mean ms", "max ms"});
  for (const Tally& t : tallies)
    if (t.graphs > 0)
      table.add({t.of, fmt::format("{} of {}", t.proven, t.graphs), std::to_string(t.gaining),
                 percent(mean(t.gains)), percent(largest(t.gains), 2), milliseconds(mean(t.seconds)),
                 milliseconds(largest(t.seconds))});
  return table;
}

}  // namespace

Report order(const Setting& setting) {
  const double seconds = setting.seconds.value_or(limit_seconds);
  const std::array sets = {fixed_tasks(), parallel_heads(), generated(setting.graphs.value_or(all_graphs))};
  Report report = {.rows = Table({"graph", "set", "kind", "nodes", "machine", "fixed", "fixed_proof", "free",
                                  "free_proof", "free_stop", "free_bound", "gain_percent", "down_sets",
                                  "fixed_steps", "free_steps", "fixed_ms", "free_ms", "free_peak_mib"}),
                   .summary = {}};
  Table singles({"graph", "nodes", "down-sets", "fixed", "free", "gain %", "proven", "fixed ms", "free ms",
                 "free MiB"});
  std::vector<Tally> tallies(1, {.of = "all"});
  for (const std::string_view machine : walk::difficulty_names)
    tallies.push_back({.of = std::string(machine)});
  for (const GraphSet& set : sets) {
    for (const Sample& sample : set.samples) {
      const Comparison comparison = compare(sample.workload, seconds, setting.threads);
      report.rows.add(row(set, sample, comparison));
      if (set.name != "generated") {
        add_single(sample, comparison, singles);
        continue;
      }
      for (Tally& tally : tallies)
        if (tally.of == "all" || tally.of == sample.machine) tally.count(comparison);
    }
    say(fmt::format("order: {}", set.name));
    report.manifest["sets"].push_back(describe(set));
  }
  report.manifest["budget"] = {{"seconds", seconds}, {"bytes", limit_bytes}};
  report.manifest["options"] = {{"engine", "auto"}, {"search_seed", 0}, {"threads", setting.threads}};
  report.summary = {
      {"Tasks and parallel heads: optimum in the fixed and in the best order, cycles", std::move(singles)},
      {"Generated graphs", group_table(tallies)}};
  return report;
}

}  // namespace fuselage::experiments
