#include "fuselage/oracle/headroom_claims.h"

#include <algorithm>
#include <cmath>

#include "fuselage/core/error.h"
#include "fuselage/walk/baseline.h"
#include "fuselage/walk/tasks.h"
#include "headroom_keeping.h"
#include "headroom_readings.h"

namespace fuselage::oracle {
namespace {

using walk::Rules;

Claim retention_claim(const std::vector<Workload>& tasks, const Budget& budget) {
  Claim claim{.name = "retention",
              .text = "retention makes a gap of 12 to 18 % on graphs with skips",
              .low = 12,
              .high = 18,
              .scope = {false, true, false, true, true},
              .readings = {}};
  Readings readings(tasks, budget, claim);
  readings.verified(
      {"ops alone, as verified",
       "every op a kernel of its own at tile 128; each keeps what is read again if that fits, against "
       "nothing kept; last uses are read free; (nothing kept - kept) / nothing kept"},
      {false, true, false, false, true}, [](const Workload& task) {
        const double kept = keeping_latency(task, Grouping::alone);
        return saved(walk::naive_latency(task.graph, task.hardware), kept);
      });
  readings.under_all({"ops alone, played",
                      "the same as a policy: constant 128 without fusing, retaining each op while it is read "
                      "again, against the same retaining nothing"},
                     [](const Measure& m) {
                       return saved(m.policy("constant 128"),
                                    m.policy({.name = "constant 128, keeping", .tile = 128, .keeps = true}));
                     });
  readings.under_all(
      {"fusing, played", "the heuristic against constant 128 fusing, which retains nothing"},
      [](const Measure& m) { return saved(m.policy("constant 128, fusing"), m.policy("heuristic")); });
  readings.under_all({"best, ops alone, tile 128",
                      "the optimum without fusion and at tile 128: (without retention - with) / without"},
                     [](const Measure& m) {
                       const auto without =
                           m.optimum({.may_fuse = false, .may_retain = false, .only_tile = 128});
                       return saved(without, m.optimum({.may_fuse = false, .only_tile = 128}));
                     });
  readings.under_all({"best, ops alone", "the optimum without fusion: (without retention - with) / without"},
                     [](const Measure& m) {
                       return saved(m.optimum({.may_fuse = false, .may_retain = false}),
                                    m.optimum({.may_fuse = false}));
                     });
  readings.under_all({"best, tile 128", "the optimum at tile 128: (without retention - with) / without"},
                     [](const Measure& m) {
                       return saved(m.optimum({.may_retain = false, .only_tile = 128}),
                                    m.optimum({.only_tile = 128}));
                     });
  readings.under_all({"best", "the optimum: (without retention - with) / without"},
                     [](const Measure& m) { return saved(m.optimum({.may_retain = false}), m.optimum({})); });
  return claim;
}

// Cycles of one op alone at each tile, nothing resident; the launch is included.
std::optional<double> spread_alone(const Workload& task, NodeId node) {
  std::vector<std::optional<double>> costs;
  for (int tile : walk::tiles) costs.push_back(latency_alone(task, node, tile));
  return spread(costs);
}

std::optional<double> spread_of_optima(const Measure& m, SolveOptions space) {
  std::vector<std::optional<double>> costs;
  for (int tile : walk::tiles) {
    space.only_tile = tile;
    costs.push_back(m.optimum(space));
  }
  return spread(costs);
}

std::optional<double> spread_of_constants(const Measure& m, bool fuse) {
  std::vector<std::optional<double>> costs;
  for (const Policy& policy : policies())
    if (policy.is_constant() && policy.fuse == fuse) costs.push_back(m.policy(policy));
  return spread(costs);
}

Claim tile_claim(const std::vector<Workload>& tasks, const Budget& budget) {
  Claim claim{.name = "tile",
              .text = "the choice of tile changes cost by 218 %",
              .low = 218,
              .high = 218,
              .scope = {true, true, true, true, true},
              .readings = {}};
  Readings readings(tasks, budget, claim);
  readings.verified(
      {"one matmul, as verified",
       "the first matmul of the graph alone, nothing resident: worst tile / best tile - 1; the script "
       "takes that of task3_attention"},
      {false, false, true, false, false}, [](const Workload& task) -> std::optional<double> {
        const auto nodes = task.graph.nodes();
        const auto first =
            std::find_if(nodes.begin(), nodes.end(), [](const Node& node) { return node.op == Op::matmul; });
        if (first == nodes.end()) return std::nullopt;
        return spread_alone(task, static_cast<NodeId>(first - nodes.begin()));
      });
  readings.once({"one op, the most", "the op of the graph whose worst tile / best tile - 1 is largest"},
                "any", [](const Workload& task) {
                  std::optional<double> most;
                  for (NodeId node = 0; node < task.graph.size(); ++node)
                    most = std::max(most, spread_alone(task, node));
                  return most;
                });
  readings.once({"one op, on average", "worst tile / best tile - 1 of an op alone, the mean over the graph"},
                "any", [](const Workload& task) -> std::optional<double> {
                  double sum = 0;
                  for (NodeId node = 0; node < task.graph.size(); ++node)
                    sum += spread_alone(task, node).value_or(0);
                  return sum / task.graph.size();
                });
  readings.under_all({"schedule, ops alone", "constant policies without fusing: worst tile / best tile - 1"},
                     [](const Measure& m) { return spread_of_constants(m, false); });
  readings.under_all({"schedule, fusing", "constant policies that fuse: worst tile / best tile - 1"},
                     [](const Measure& m) { return spread_of_constants(m, true); });
  readings.under_all(
      {"best, ops alone",
       "the optimum without fusion at each single tile: worst / best - 1; by the seed's accounting a group "
       "that is made to run out of memory runs at 128 all the same, and optima do that"},
      [](const Measure& m) { return spread_of_optima(m, {.may_fuse = false}); });
  readings.under_all({"best", "the optimum at each single tile: worst / best - 1; see above"},
                     [](const Measure& m) { return spread_of_optima(m, {}); });
  readings.under_all({"best, free to choose", "optimum at the worst single tile / optimum of any tiles - 1"},
                     [](const Measure& m) {
                       std::vector<std::optional<double>> costs = {m.optimum({})};
                       for (int tile : walk::tiles) costs.push_back(m.optimum({.only_tile = tile}));
                       return spread(costs);
                     });
  return claim;
}

std::optional<double> published_score(const Workload& task, double Published::*score) {
  const auto row = published_for(task);
  return row ? std::optional((*row).*score) : std::nullopt;
}

void add_published(Readings& readings) {
  for (const auto& [model, score] :
       {std::pair{"3B", &Published::score_3b}, std::pair{"8B", &Published::score_8b}}) {
    readings.once(
        {fmt::format("{} model, latency", model),
         fmt::format("the published scores of the {} model, times the 20 % that the environment's code "
                     "divides by",
                     model)},
        "published", [score = score](const Workload& task) -> std::optional<double> {
          const auto value = published_score(task, score);
          return value ? std::optional(*value * 0.2) : std::nullopt;
        });
    readings.once({fmt::format("{} model, as printed", model),
                   fmt::format("the published scores of the {} model read as improvements, which is how the "
                               "environment's README defines a score",
                               model)},
                  "published",
                  [score = score](const Workload& task) { return published_score(task, score); });
  }
}

Claim greedy_claim(const std::vector<Workload>& tasks, const Budget& budget) {
  Claim claim{.name = "greedy",
              .text = "greedy can be beaten by 5 to 17 %",
              .low = 5,
              .high = 17,
              .scope = {true, true, true, true, true},
              .readings = {}};
  Readings readings(tasks, budget, claim);
  readings.verified(
      {"keeping longer, as verified",
       "greedy's groups at tile 128, each keeping what is read again within half of the capacity: "
       "(greedy - kept) / greedy"},
      {false, true, false, true, true}, [](const Workload& task) {
        return saved(walk::greedy(task.graph, task.hardware).latency,
                     keeping_latency(task, Grouping::greedy));
      });
  readings.under_all({"best", "(greedy - optimum) / greedy"},
                     [](const Measure& m) { return m.beats_greedy(SolveOptions{}); });
  readings.under(Rules::physical, {"best, order free", "the same in any topological order"},
                 [](const Measure& m) { return m.beats_greedy({.order = walk::Order::free}); });
  readings.under_all({"best, tile 128", "(greedy - optimum at greedy's tile) / greedy"},
                     [](const Measure& m) { return m.beats_greedy({.only_tile = 128}); });
  readings.under_all({"best constant", "(greedy - best constant policy) / greedy"}, [](const Measure& m) {
    std::optional<double> best;
    for (const Policy& policy : policies())
      if (policy.is_constant()) best = std::max(best, m.beats_greedy(m.policy(policy)));
    return best;
  });
  readings.under_all({"heuristic", "(greedy - heuristic) / greedy"},
                     [](const Measure& m) { return m.beats_greedy(m.policy("heuristic")); });
  add_published(readings);
  return claim;
}

}  // namespace

TaskSet Claim::within(const ClaimReading& reading) const {
  TaskSet tasks = {};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!reading.scope[i] || !reading.values[i]) continue;
    const double rounded = std::round(100 * *reading.values[i]);
    tasks[i] = rounded >= low && rounded <= high;
  }
  return tasks;
}

std::vector<Claim> check_claims(const Budget& budget) {
  std::vector<Workload> tasks;
  for (const walk::TaskSpec& task : walk::tasks()) tasks.push_back(walk::make_task(task));
  return {retention_claim(tasks, budget), tile_claim(tasks, budget), greedy_claim(tasks, budget)};
}

}  // namespace fuselage::oracle
