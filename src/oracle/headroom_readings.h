// How the readings of a claim are filled: a figure of one task under one rule set, for all tasks and rule
// sets.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/oracle/headroom.h"
#include "fuselage/oracle/headroom_claims.h"

namespace fuselage::oracle {

inline std::optional<double> saved(const std::optional<double>& without, const std::optional<double>& with) {
  if (!without || !with) return std::nullopt;
  return (*without - *with) / *without;
}

// Worst over best - 1 of those that exist; none if that is fewer than two.
inline std::optional<double> spread(const std::vector<std::optional<double>>& costs) {
  std::vector<double> known;
  for (const auto& cost : costs)
    if (cost) known.push_back(*cost);
  if (known.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(known.begin(), known.end());
  return *most / *least - 1;
}

// One task under one rule set: latencies of policies and optima, and whether the optima are proven.
class Measure {
 public:
  Measure(const Workload& workload, walk::Rules rules, const Budget& budget, bool& proven)
      : workload_(workload), rules_(rules), budget_(budget), proven_(proven) {}

  std::optional<double> policy(std::string_view name) const {
    return play_policy(workload_, rules_, find_policy(name)).latency;
  }
  std::optional<double> policy(const Policy& policy) const {
    return play_policy(workload_, rules_, policy).latency;
  }
  std::optional<double> optimum(SolveOptions space) const {
    const Solution solution = solve(space);
    return solution.found ? std::optional(solution.latency) : std::nullopt;
  }
  // (greedy - optimum) / greedy
  std::optional<double> beats_greedy(SolveOptions space) const { return solve(space).improvement(); }
  std::optional<double> beats_greedy(const std::optional<double>& latency) const {
    return saved(solve({.engine = Engine::naive}).greedy_latency, latency);
  }

 private:
  static bool is_open(const SolveOptions& space, const Solution& solution) {
    if (space.engine == Engine::greedy || space.engine == Engine::naive) return false;
    return !solution.infeasible && solution.proof != search::Proof::optimal;
  }
  Solution solve(SolveOptions space) const {
    space.rules = rules_;
    space.budget = budget_;
    Solution solution = oracle::solve(workload_, space);
    if (is_open(space, solution)) proven_ = false;
    return solution;
  }

  const Workload& workload_;
  walk::Rules rules_;
  const Budget& budget_;
  bool& proven_;
};

inline constexpr const char* script =
    "script";  // the authors' own verification, whose accounting is no rule set

struct Definition {
  std::string name;
  std::string text;
};

class Readings {
 public:
  Readings(const std::vector<Workload>& tasks, const Budget& budget, Claim& claim)
      : tasks_(tasks), budget_(budget), claim_(claim) {}

  // The same figure under every rule set.
  void under_all(const Definition& definition,
                 const std::function<std::optional<double>(const Measure&)>& figure) {
    for (walk::Rules rules : {walk::Rules::seed, walk::Rules::seed_honest, walk::Rules::physical})
      under(rules, definition, figure);
  }
  void under(walk::Rules rules, const Definition& definition,
             const std::function<std::optional<double>(const Measure&)>& figure) {
    ClaimReading& reading = add(definition, std::string(walk::name(rules)));
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      reading.values[i] = figure(Measure(tasks_[i], rules, budget_, reading.proven));
  }
  // A figure that no rule set changes.
  void once(const Definition& definition, const std::string& rules,
            const std::function<std::optional<double>(const Workload&)>& figure) {
    ClaimReading& reading = add(definition, rules);
    for (std::size_t i = 0; i < tasks_.size(); ++i) reading.values[i] = figure(tasks_[i]);
  }
  // Of the authors' script, which measures some of the tasks.
  void verified(const Definition& definition, const TaskSet& scope,
                const std::function<std::optional<double>(const Workload&)>& figure) {
    once(definition, script, figure);
    claim_.readings.back().scope = scope;
  }

 private:
  ClaimReading& add(const Definition& definition, std::string rules) {
    return claim_.readings.emplace_back(ClaimReading{.name = definition.name,
                                                     .definition = definition.text,
                                                     .rules = std::move(rules),
                                                     .scope = claim_.scope,
                                                     .values = {}});
  }

  const std::vector<Workload>& tasks_;
  const Budget& budget_;
  Claim& claim_;
};

}  // namespace fuselage::oracle
