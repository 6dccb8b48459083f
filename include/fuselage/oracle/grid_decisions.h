// Decisions of the grid family as data for a ranker: states that searches and policies get into, and for each
// kernel that could come next what the best schedule known costs more if it is chosen. Exact values are out
// of reach but for small problems, so a kernel's cost to go is that of the best completion that any search
// from any state has found so far: beams of growing width from the state after it, which end by themselves
// where they have seen everything.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/problem.h"
#include "fuselage/grid/rules.h"
#include "fuselage/learn/flat_trees.h"
#include "fuselage/learn/ranker.h"
#include "fuselage/learn/ranking_metrics.h"
#include "fuselage/oracle/walk_decisions.h"

namespace fuselage::oracle {

// A generated problem and the rules that it is for.
struct GridSample {
  std::string name;  // "transformer_n24_s17_mlsys"
  grid::Instance instance;
  grid::Rules rules;
};

struct GridDrawOptions {
  int min_ops = 8;
  int max_ops = 60;
  bool honest = false;  // fusionops_honest in place of mlsys
};
// Network, ops, shapes and machine follow from the seed.
GridSample draw_grid(const GridDrawOptions& options, std::uint64_t seed);

// Of ops, shapes, costs and edges: neither how ops and tensors are numbered counts (but for ops that nothing
// else tells apart) nor the machine. By learn::split_of a problem is in the same split everywhere.
std::string grid_hash(const grid::Instance& instance);

struct GridDecisionOptions {
  std::size_t most_states = 64;           // of an episode, about, spread over it
  std::size_t most_candidates = 48;       // of a state; drawn from those there are, the best among them
  std::uint64_t completion_steps = 1500;  // kernels priced for a completion, about
  std::uint64_t most_steps = 600'000;     // of the problem; what is not done then is left out
  std::uint64_t seed = 0;
  // Visited are the states of a schedule that keeps to what is best, and of one that mostly does but errs now
  // and then; with a policy those that its choices lead to, and of another one that errs.
  const learn::FlatTrees* policy = nullptr;
};
// Adds the decisions of one problem; regret is in mean op times (grid::Features::mean_time), infinite values
// count as `hopeless`.
void add_grid_decisions(const grid::Instance& instance, const grid::Rules& rules,
                        const GridDecisionOptions& options, Decisions& out);
inline constexpr double hopeless = 1e4;

// How a ranker of decisions fares on groups that it hasn't seen; costs are 1 + regret.
struct DecisionFigures {
  std::size_t groups = 0;  // that have something to rank
  learn::PerRankMetric<learn::Estimate> metrics = {};
  double first_regret = 0;   // mean regret of the candidate that scores highest, hopeless ones as 10
  double first_best = 0;     // share of groups whose highest score is a best candidate
  double random_regret = 0;  // the same of a candidate drawn at random
};
DecisionFigures decision_figures(const Decisions& decisions, const learn::FlatTrees& trees);

struct GridTrainingOptions {
  std::uint64_t seed = 1;
  int problems = 440;  // generated; half of them under each of mlsys and fusionops-honest
  int max_ops = 54;
  learn::RankerOptions ranker = {
      .objective = learn::RankObjective::ndcg, .rounds = 180, .depth = 6, .eta = 0.12, .min_hessian = 0.1};
  GridDecisionOptions decisions = {};
  // Told now and then, with the part of the work that is done.
  std::function<void(double)> progress = {};
};

struct GridTraining {
  std::string model;  // XGBoost's JSON
  std::size_t problems = 0;
  std::size_t states = 0;      // groups that it was trained on
  std::size_t candidates = 0;  // rows
  DecisionFigures train = {};
  DecisionFigures test = {};
};
// The ranker of grid decisions from nothing but a seed: the same options, the same bytes. Problems are drawn
// with seeds below `first_held_out_seed`, and those of the test split are judged and never trained on.
GridTraining train_grid_decisions(const GridTrainingOptions& options);
inline constexpr std::uint64_t first_held_out_seed = 2'000'000;

}  // namespace fuselage::oracle
