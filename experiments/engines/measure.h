// One search, timed; and one search in a process of its own, whose peak memory is then that search's alone
// (what getrusage says of a process never falls). The parent of such processes must not have started threads.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/oracle/solve.h"

namespace fuselage::experiments {

// A rule set with its order, named as in the tables: "physical free".
struct Space {
  walk::Rules rules = walk::Rules::seed_honest;
  walk::Order order = walk::Order::fixed;

  std::string name() const;
};
inline constexpr Space seed = {.rules = walk::Rules::seed};
inline constexpr Space seed_honest = {.rules = walk::Rules::seed_honest};
inline constexpr Space physical = {.rules = walk::Rules::physical};
inline constexpr Space physical_free = {.rules = walk::Rules::physical, .order = walk::Order::free};

struct Measured {
  bool found = false;
  double cost = 0;         // cycles, as the independent check prices the plan
  double lower_bound = 0;  // cycles
  bool optimal = false;    // proven, over all legal kernels
  std::string proof;
  std::string stop;
  std::uint64_t steps = 0;                // kernels priced
  double seconds = 0;                     // wall clock of it all: tables, baselines, search, check
  std::optional<double> first_plan = {};  // seconds until there was a plan; only if it was watched
  std::int64_t peak_bytes = 0;            // only in a process of its own

  double gap() const { return search::gap(cost, lower_bound); }
};

Measured measure(const Workload& workload, const oracle::SolveOptions& options);
// With a monitor, which says when the first plan was there.
Measured watch(const Workload& workload, oracle::SolveOptions options);

// What `work` returns in a child process, and the peak of resident memory there. Throws Error if the child
// ended without an answer, with what it said.
struct ChildAnswer {
  nlohmann::json value;
  std::int64_t peak_bytes = 0;
};
ChildAnswer in_child(const std::function<nlohmann::json()>& work);

// watch() in a child, which makes the graph too; a search whose process was ended (for memory, say) has found
// nothing, and `stop` says so.
Measured watch_in_child(const std::function<Workload()>& make, const oracle::SolveOptions& options);

// Means, medians and the like of what was measured. Zero, if there is nothing.
double mean(const std::vector<double>& values);
double largest(const std::vector<double>& values);
double smallest(const std::vector<double>& values);
double median(std::vector<double> values);

}  // namespace fuselage::experiments
