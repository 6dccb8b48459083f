// One graph with all that a data set says of it: the states that policies visited, each with the value of
// every answer, and the episodes themselves. Answers are texts, so that rows are written the same way for
// every family.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/graph/graph.h"
#include "fuselage/oracle/policy_mix.h"
#include "fuselage/oracle/values.h"
#include "fuselage/search/outcome.h"
#include "fuselage/walk/rules.h"

namespace fuselage::oracle {

struct LabelledAnswer {
  std::string text;
  Value q;               // cost still to come if this is answered now and the best answers follow
  bool optimal = false;  // none costs less; ties are all optimal
};

struct LabelledState {
  std::size_t episode = 0;                    // in which it was met first
  int step = 0;                               // answers read before it
  int node = 0;                               // that the answer is about; -1 where the family has none
  std::string observation;                    // the environment's text, to the byte
  double spent = 0;                           // cost so far
  Value value;                                // cost still to come
  search::Proof proof = search::Proof::none;  // of the value and of all the answers'
  std::vector<LabelledAnswer> answers;        // canonical ones, at least one of them optimal
  std::size_t best = 0;  // the optimal answer that a data set shows: least retained, then a tile of 128, then
                         // the first
  LabelledAnswer taken;  // what the episode did here
};

struct LabelledEpisode {
  std::string policy;
  std::vector<std::string> answers;  // by step
  std::vector<double> regrets;       // by step: how much the least cost of the whole episode rose
  double latency = 0;                // of the whole episode, best answers following if it ended early
  double score = 0;                  // the environment's, of the episode as far as it was played
  bool complete = true;
  search::Proof proof = search::Proof::optimal;  // of the optimum, the regrets, and the latency
};

struct LabelledGraph {
  std::string name;
  std::string hash;            // 64 hex digits, of the graph without its machine; splits follow from it
  std::string graph;           // JSON, one line, with the machine
  bool is_fixed_task = false;  // one of the environment's, on any machine
  std::uint64_t seed = 0;      // of all that was drawn for it, below 2^53
  int ops = 0;
  double greedy = 0;  // cost of the environment's baselines
  double naive = 0;
  Value optimum;
  search::Proof proof = search::Proof::none;  // of the optimum
  double optimum_score = 0;
  // In the order in which they were met, none twice. Two may look the same (`observation`): an environment
  // need not show all that counts.
  std::vector<LabelledState> states;
  std::vector<LabelledEpisode> episodes;
};

// An episode of somebody else, to learn from its mistakes (DAgger). Answers that can't be read use no step.
struct PlayedEpisode {
  std::string policy;
  std::vector<std::string> answers;
};

struct LabelOptions {
  walk::Rules rules = walk::Rules::seed_honest;  // or seed
  PolicyMix mix = {};
  int episodes = 3;        // drawn from the mix
  std::uint64_t seed = 0;  // of all that is drawn; below 2^53
  Budget budget = {};      // of one search; what it ends unproven is marked so
};

// None if the budget was cancelled.
std::optional<LabelledGraph> label_walk(const Workload& workload, const LabelOptions& options,
                                        const std::vector<PlayedEpisode>& played = {});

}  // namespace fuselage::oracle
