// Steps a second with two threads against one, for the two engines that are parallel within; and, since cores
// may be shared or clocked down, for arithmetic that has nothing in common: no engine can do better than
// that.

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "experiment.h"
#include "fuselage/core/json.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/mcts.h"
#include "measure.h"
#include "sets.h"

namespace fuselage::experiments {
namespace {

using Json = nlohmann::json;

constexpr int mixed_nodes = 2'000;
constexpr int head_blocks_nodes = 100;
constexpr int repetitions = 5;
constexpr double least_seconds = 2;  // of one measurement with one thread
constexpr double asked = 1.7;        // times the steps a second

// What one thread does and what two do.
enum class Work {
  beam,
  tree_per_thread,  // mcts as users run it: one tree against two
  two_trees,        // mcts: two trees in turn against two trees at once, the very same steps
  control,          // arithmetic
};

struct Case {
  Work work = Work::beam;
  std::size_t width = 0;  // of the beam
  std::size_t graph = 0;  // in the set
  Space space = physical;

  std::string name() const {
    if (work == Work::control) return "arithmetic";
    if (work == Work::beam) return fmt::format("beam {}", width);
    return work == Work::tree_per_thread ? "mcts (a tree a thread)" : "mcts (two trees)";
  }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases = {{.work = Work::control}};
  for (const std::size_t width : {std::size_t{256}, std::size_t{1024}})
    for (const auto& [graph, space] : {std::pair(0, physical), {0, physical_free}, {1, physical_free}})
      cases.push_back({Work::beam, width, static_cast<std::size_t>(graph), space});
  for (const Work work : {Work::tree_per_thread, Work::two_trees})
    for (const Space& space : {physical, physical_free}) cases.push_back({work, 0, 0, space});
  return cases;
}

struct Run {
  double steps = 0;
  double states = 0;
  double seconds = 0;
  double cost = 0;
  double rate() const { return steps / seconds; }
};

// How many searches of how many steps.
struct Load {
  int searches = 1;
  std::uint64_t steps = std::numeric_limits<std::uint64_t>::max();
};

// So many steps of a linear congruential generator, shared out; the last state is the cost, lest they go.
Run calculate(std::uint64_t steps, int threads) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::uint64_t> last(static_cast<std::size_t>(threads));
  const std::uint64_t share = steps / last.size();
  const auto work = [&](std::size_t thread) {
    std::uint64_t x = thread;
    for (std::uint64_t i = 0; i < share; ++i) x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    last[thread] = x >> 32U;
  };
  tbb::parallel_for(std::size_t{0}, last.size(), work, tbb::simple_partitioner());
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return {.steps = static_cast<double>(share * last.size()),
          .states = 0,
          .seconds = spent.count(),
          .cost = static_cast<double>(last[0])};
}

// Searches in a row, on a problem that is there already.
Run run(const walk::WalkProblem& problem, const Case& which, const Load& load, int threads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  if (which.work == Work::control) return calculate(load.steps, threads);
  const Budget budget = {.steps = load.steps};
  const int trees = which.work == Work::two_trees ? 2 : threads;
  Run total;
  for (int i = 0; i < load.searches; ++i) {
    const auto outcome =
        which.work == Work::beam
            ? search::beam(problem, {.budget = budget, .width = which.width, .threads = threads})
            : search::mcts(problem, {.budget = budget, .threads = trees});
    total.steps += static_cast<double>(outcome.steps);
    total.states += static_cast<double>(outcome.states);
    total.seconds += outcome.seconds;
    total.cost = outcome.cost;
  }
  return total;
}

// A load that takes one thread long enough. A beam ends by itself and is repeated; a tree gets a power of two
// of steps.
Load calibrate(const walk::WalkProblem& problem, const Case& which, double seconds) {
  Load load;
  if (which.work != Work::beam) load.steps = 1 << 14;
  for (;; load.steps *= 2) {
    const Run trial = run(problem, which, load, 1);
    if (trial.seconds >= seconds) return load;
    if (trial.steps >= static_cast<double>(load.steps)) continue;
    load.searches = static_cast<int>(std::ceil(seconds / trial.seconds));
    return load;
  }
}

Json measure_case(const Workload& workload, const Case& which, double seconds) {
  const walk::RunTable runs(workload.graph, workload.hardware);
  const walk::WalkProblem problem(workload.graph, workload.hardware, runs,
                                  {.rules = which.space.rules, .order = which.space.order});
  const Load load = calibrate(problem, which, seconds);
  Json pairs = Json::array();
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const Run one = run(problem, which, load, 1);
    const Run two = run(problem, which, load, 2);
    pairs.push_back({{"searches", load.searches},
                     {"states", one.states / load.searches / workload.graph.size()},
                     {"steps", one.steps},
                     {"steps_two", two.steps},
                     {"cost", one.cost},
                     {"cost_two", two.cost},
                     {"seconds", one.seconds},
                     {"seconds_two", two.seconds},
                     {"ratio", two.rate() / one.rate()}});
  }
  return pairs;
}

void add_rows(const Case& which, const Workload& workload, const Json& pairs, Table& rows) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Json& pair = pairs[i];
    const auto number = [&](const char* field) { return pair.at(field).get<double>(); };
    rows.add({which.name(), workload.name, which.space.name(), std::to_string(i + 1),
              pair.at("searches").dump(), fixed(number("states"), 1), fixed(number("steps"), 0),
              fixed(number("steps_two"), 0), json_number(number("cost")), json_number(number("cost_two")),
              milliseconds(number("seconds")), milliseconds(number("seconds_two")),
              fixed(number("ratio"), 3)});
  }
}

void add_summary(const Case& which, const Workload& workload, const Json& pairs, Table& summary) {
  std::vector<double> one;
  std::vector<double> two;
  std::vector<double> ratios;
  for (const Json& pair : pairs) {
    one.push_back(pair.at("steps").get<double>() / pair.at("seconds").get<double>());
    two.push_back(pair.at("steps_two").get<double>() / pair.at("seconds_two").get<double>());
    ratios.push_back(pair.at("ratio").get<double>());
  }
  summary.add({which.name(), workload.name, which.space.name(),
               fixed(pairs.at(0).at("states").get<double>(), 1), fixed(median(one), 0), fixed(median(two), 0),
               fixed(median(ratios), 2), fixed(smallest(ratios), 2), fixed(largest(ratios), 2),
               yes_no(median(ratios) >= asked)});
}

}  // namespace

Report threads(const Setting& setting) {
  const double seconds = setting.seconds.value_or(least_seconds);
  GraphSet set = {.name = "large", .seeds = std::to_string(large_seed), .samples = {}};
  set.samples.push_back(large_graph(mixed_nodes));
  set.samples.push_back(head_blocks(head_blocks_nodes));
  Report report = {.rows = Table({"engine", "graph", "rules", "repetition", "searches", "states_per_node",
                                  "steps_1", "steps_2", "cost_1", "cost_2", "ms_1", "ms_2", "ratio"}),
                   .summary = {}};
  Table summary({"engine", "graph", "rules", "states a node", "steps/s, 1 thread", "2 threads",
                 "median ratio", "min", "max", "1.7 or more"});
  for (const Case& which : all_cases()) {
    // A process each: threads of one case must not be there when the next forks.
    const Workload& workload = set.samples[which.graph].workload;
    const Json pairs = in_child([&] { return measure_case(workload, which, seconds); }).value;
    add_rows(which, workload, pairs, report.rows);
    add_summary(which, workload, pairs, summary);
    say(fmt::format("threads: {}, {}, {}", which.name(), workload.name, which.space.name()));
  }
  report.manifest["sets"].push_back(describe(set));
  report.manifest["budget"] = {{"least_seconds_with_one_thread", seconds}};
  report.manifest["options"] = {{"repetitions", repetitions}, {"search_seed", 0}};
  report.summary = {
      {fmt::format("{} pairs of runs, one thread and two in turn", repetitions), std::move(summary)}};
  return report;
}

}  // namespace fuselage::experiments
