// From a workload to an answer that can be trusted: an engine finds a plan, `simulate` prices it anew, and
// the answer carries what it is measured against. This is what commands, datasets and servers call.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fuselage/core/budget.h"
#include "fuselage/graph/graph.h"
#include "fuselage/oracle/objective.h"
#include "fuselage/oracle/walk_guide.h"
#include "fuselage/search/monitor.h"
#include "fuselage/search/outcome.h"
#include "fuselage/walk/plan.h"
#include "fuselage/walk/price.h"
#include "fuselage/walk/problem.h"
#include "fuselage/walk/rules.h"

namespace fuselage::oracle {

// automatic is the portfolio of the four after it (search/portfolio.h); exact proves; beam, mcts and local
// find; greedy and naive play the two baselines as plans of the rule set.
enum class Engine : std::uint8_t { automatic, exact, beam, mcts, local, greedy, naive };
inline constexpr std::array<std::string_view, 7> engine_names = {"auto",  "exact",  "beam", "mcts",
                                                                 "local", "greedy", "naive"};
constexpr std::string_view name(Engine engine) {
  return engine_names[static_cast<std::size_t>(engine)];
}

struct SolveOptions {
  walk::Rules rules = walk::Rules::seed_honest;
  walk::Order order = walk::Order::fixed;
  walk::Price price = {};  // what is minimised beside the latency
  Engine engine = Engine::automatic;
  Budget budget = {};
  // Restricted spaces: what is one of the three decisions worth? A bound or a proof is about what is left.
  bool may_fuse = true;
  bool may_retain = true;
  std::optional<int> only_tile = {};
  std::size_t width = 16;  // of the beam: states a layer
  std::uint64_t seed = 0;  // of mcts, local and the portfolio
  int threads = 1;         // the plan may depend on it where a budget ends the search
  search::Monitor* monitor = nullptr;
  // Of automatic, beam and mcts, in fixed order; must outlive the search. What is proven never rests on it.
  const WalkModels* guide = nullptr;
  WalkGuideOptions guide_options = {};
};

struct Solution {
  bool found = false;  // is there a plan?
  walk::Plan plan;
  double latency = 0;  // cycles, as simulate prices the plan
  double cost = 0;     // the objective: latency, and what the price adds
  Charges charges = {};
  int overflows = 0;  // kernels of the plan that need more than fast memory (overflow.h)
  std::optional<double>
      greedy_latency;  // the rule set's greedy figure; none if greedy gets stuck (physical only)
  std::optional<double> naive_latency;
  double lower_bound = 0;  // of the objective
  search::Proof proof = search::Proof::none;
  StopReason stop = StopReason::exhausted;
  std::uint64_t steps = 0;   // kernels priced
  std::uint64_t states = 0;  // states expanded
  double seconds = 0;
  std::string engine = {};                                  // that found the plan
  std::optional<walk::WalkProblem::Infeasible> infeasible;  // proven: no schedule exists

  double gap() const { return search::gap(cost, lower_bound); }
  std::optional<double> improvement() const;  // (greedy - latency) / greedy
  std::optional<double> score() const;        // improvement / 0.2 within [-1, 1], the environment's score
};

// Throws Error if no node fits in fast memory at all (which node, how much is missing). A plan that simulate
// rejects or prices otherwise is an internal error: std::logic_error.
Solution solve(const Workload& workload, const SolveOptions& options);

// The kernels that an episode runs when it is played these actions to its end.
walk::Plan play(const walk::EpisodeContext& context, walk::Rules rules,
                std::span<const walk::Action> actions);

}  // namespace fuselage::oracle
