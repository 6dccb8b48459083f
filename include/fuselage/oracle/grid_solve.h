// From a grid problem to an answer that can be trusted: an engine finds a plan, the judge (grid/evaluate.h)
// runs it anew, and the answer carries what it is measured against.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/problem.h"
#include "fuselage/learn/flat_trees.h"
#include "fuselage/oracle/decision_guide.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/search/monitor.h"
#include "fuselage/search/outcome.h"

namespace fuselage::oracle {

struct GridSolveOptions {
  grid::Rules rules = {};
  grid::SpaceOptions space = {};
  Engine engine = Engine::automatic;
  Budget budget = {};
  std::size_t width = 16;  // of the beam
  std::uint64_t seed = 0;
  int threads = 1;
  std::uint64_t patience = 1'000;  // restarts of local improvement in vain, where no budget ends the search
  search::Monitor* monitor = nullptr;
  // A ranker of decisions (grid_decisions.h), for automatic, beam and mcts under mlsys and fusionops-honest,
  // which it is trained for. Automatic begins with half its steps of guided search (grid_guide.h), and the
  // portfolio goes on from there without the guide. What is proven never rests on it.
  std::shared_ptr<const learn::FlatTrees> guide = nullptr;
  Keeping keeping = {.most = 8, .margin = 4};
};

struct GridSolution {
  grid::Plan plan;
  grid::Evaluation evaluation;  // of the plan, by the judge
  double latency = 0;           // time units; evaluation.latency
  double greedy_latency = 0;    // at every state the kernel that saves most
  double naive_latency = 0;     // every op alone, at its best granularity
  double lower_bound = 0;
  search::Proof proof = search::Proof::none;
  StopReason stop = StopReason::exhausted;
  std::uint64_t steps = 0;   // kernels priced
  std::uint64_t states = 0;  // states expanded
  double seconds = 0;
  std::string engine = {};  // that found the plan

  double gap() const { return search::gap(latency, lower_bound); }
};

// Throws Error if an op fits fast memory at no granularity, for shapes that the rules refuse (grid/shapes.h),
// and for a guide that doesn't fit. A plan that the judge rejects or prices otherwise is an internal error:
// std::logic_error.
GridSolution solve_grid(const grid::Instance& instance, const GridSolveOptions& options);

}  // namespace fuselage::oracle
