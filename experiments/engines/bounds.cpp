// How near is the bound of the empty schedule to the optimum, with and without tight bounds?

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "experiment.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "measure.h"
#include "sets.h"

namespace fuselage::experiments {
namespace {

constexpr int all_graphs = 200;
constexpr double limit_seconds = 10;
constexpr std::array spaces = {seed, seed_honest, physical, physical_free};

double root_bound(const Workload& workload, const Space& space, bool tight) {
  const walk::RunTable runs(workload.graph, workload.hardware);
  walk::ProblemOptions options = {.rules = space.rules, .order = space.order};
  options.tight_bounds = tight;
  const walk::WalkProblem problem(workload.graph, workload.hardware, runs, options);
  return problem.bound(problem.initial());
}

// Bound / optimum of the graphs whose optimum is proven.
struct Tally {
  int graphs = 0;
  int proven = 0;
  std::vector<double> tight;
  std::vector<double> plain;
};

class Summary {
 public:
  void count(const GraphSet& set, const Space& space, std::string_view machine, bool proven, double tight,
             double plain) {
    for (const std::string& of : {std::string("all"), std::string(machine)}) {
      const Key key = {set.name, space.name(), of};
      const auto found = std::find_if(tallies_.begin(), tallies_.end(),
                                      [&](const auto& entry) { return entry.first == key; });
      Tally& tally = found != tallies_.end() ? found->second : tallies_.emplace_back(key, Tally{}).second;
      ++tally.graphs;
      if (!proven) continue;
      ++tally.proven;
      tally.tight.push_back(tight);
      tally.plain.push_back(plain);
    }
  }
  // "all" machines, or each of them.
  Table table(bool by_machine) const {
    Table table({"graphs", "machine", "proven", "mean %", "min %", "not tight: mean %", "min %"});
    for (const auto& [key, t] : tallies_) {
      const auto& [set, space, machine] = key;
      if ((machine != "all") != by_machine) continue;
      table.add({fmt::format("{}, {}", set, space), machine, fmt::format("{} of {}", t.proven, t.graphs),
                 percent(mean(t.tight), 2), percent(smallest(t.tight), 2), percent(mean(t.plain), 2),
                 percent(smallest(t.plain), 2)});
    }
    return table;
  }

 private:
  using Key = std::array<std::string, 3>;  // set, space, machine
  std::vector<std::pair<Key, Tally>> tallies_;
};

}  // namespace

Report bounds(const Setting& setting) {
  const int count_all = setting.graphs.value_or(all_graphs);
  const double seconds = setting.seconds.value_or(limit_seconds);
  const std::array sets = {generated(count_all), memory_bound(std::max(1, count_all / 2))};
  Report report = {.rows = Table({"graph", "set", "kind", "nodes", "machine", "rules", "best", "proven",
                                  "bound", "bound_percent", "plain_bound", "plain_percent"}),
                   .summary = {}};
  Summary summary;
  for (const GraphSet& set : sets) {
    for (const Space& space : spaces) {
      for (const auto& [workload, kind, machine] : set.samples) {
        oracle::SolveOptions options = {.rules = space.rules, .order = space.order};
        options.budget.wall_seconds = seconds;
        const Measured m = measure(workload, options);
        const double tight = root_bound(workload, space, true);
        const double plain = root_bound(workload, space, false);
        if (m.found && std::max(tight, plain) > m.cost * (1 + 1e-9))
          fail("{}: {}: the bound {} exceeds the cost {} of a plan", workload.name, space.name(),
               std::max(tight, plain), m.cost);
        summary.count(set, space, machine, m.optimal, tight / m.cost, plain / m.cost);
        report.rows.add({workload.name, set.name, std::string(kind), std::to_string(workload.graph.size()),
                         std::string(machine), space.name(), m.found ? json_number(m.cost) : "",
                         yes_no(m.optimal), json_number(tight), m.found ? percent(tight / m.cost) : "",
                         json_number(plain), m.found ? percent(plain / m.cost) : ""});
      }
      say(fmt::format("bounds: {}, {}", set.name, space.name()));
    }
    report.manifest["sets"].push_back(describe(set));
  }
  report.manifest["budget"] = {{"seconds", seconds}};
  report.manifest["options"] = {{"engine", "auto"}, {"search_seed", 0}, {"threads", 1}};
  report.summary = {{"Bound of the empty schedule / optimum (asked: generated 85 %, memory-bound 80 %)",
                     summary.table(false)},
                    {"The same by machine", summary.table(true)}};
  return report;
}

}  // namespace fuselage::experiments
