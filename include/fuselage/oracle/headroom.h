// How much is there to win, and by what? For one workload under one rule set: what simple policies get, what
// the optimum gets, how near the bound is before any search, and what each of the decisions is worth, as the
// optimum of the space without it. Scores of agents mean little before one knows these figures: a constant
// action beats the published agents on most of the five tasks. headroom_claims.h checks what the
// environment's authors say of their tasks by the same means.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/plan.h"
#include "fuselage/walk/rules.h"

namespace fuselage::oracle {

// An agent without a plan: the same answer at every node, or greedy's groups. Asking to fuse where the rules
// refuse starts a new group and costs reward, not latency; so `fuse` also says "fuse where it can be done".
struct Policy {
  std::string_view name;
  bool greedy = false;  // plays the groups and retain sets of the greedy walk; the rest is not read
  bool fuse = false;
  int tile = walk::default_tile;
  bool keeps = false;  // retains the node itself if anybody reads it later

  bool is_constant() const { return !greedy && !keeps; }
};

// Greedy; every tile without and with fusing, nothing retained; and the heuristic of the environment's
// training scripts: fuse where it can be done, tile 128, keep what is read again.
std::span<const Policy> policies();
const Policy& find_policy(std::string_view name);  // one of them

struct Played {
  Policy policy;
  std::vector<walk::Action> actions = {};  // what it answered, node by node; of physical, which has no
                                           // episodes, those under seed-honest
  walk::Plan plan;                         // the kernels that ran
  std::optional<double> latency;  // cycles; none if the plan is illegal, which happens under physical only
  std::string fault;              // why it is
};

// seed, seed-honest: an episode, and its total. physical, which has no episodes: the kernels that the
// seed-honest episode ran (members of a group that fell back one by one), each retaining what was resident
// after it there and is still read later; priced by simulate. What physical would drop at once is not asked
// for; nothing else is repaired.
Played play_policy(const Workload& workload, walk::Rules rules, const Policy& policy);

inline constexpr std::string_view no_retention = "no retention";
inline constexpr std::string_view no_fusion = "no fusion";
inline constexpr std::string_view one_tile = "tile 128 only";
inline constexpr std::string_view free_order = "order free";  // physical only

inline constexpr std::array<std::string_view, 4> decision_names = {no_retention, no_fusion, one_tile,
                                                                   free_order};

// One decision taken away, or given.
struct Decision {
  std::string_view name;
  Solution solution;  // over what is left; without a plan if there is none
};

struct HeadroomOptions {
  walk::Rules rules = walk::Rules::seed_honest;
  Budget budget = {};  // of each search
};

struct Headroom {
  walk::Rules rules = walk::Rules::seed_honest;
  std::vector<Played> policies;     // as policies() lists them
  Solution optimum;                 // with the baselines of the rule set
  double root_bound = 0;            // cycles, before any search
  std::vector<Decision> decisions;  // in the order of decision_names

  std::optional<double> improvement(double latency) const;  // (greedy - latency) / greedy
  std::optional<double> score(double latency) const;        // improvement / 0.2 within [-1, 1]
  // How much more cycles the optimum takes without a decision, as a fraction; negative: how much less with
  // it.
  std::optional<double> loss(const Decision& decision) const;
  const Played& best_constant() const;  // the first of the best
  const Played& played(std::string_view policy) const;
  const Decision* decision(std::string_view name) const;  // none: the rule set doesn't have it
};

// Throws Error as solve does.
Headroom headroom(const Workload& workload, const HeadroomOptions& options);

// What the environment's authors published of their language models, trained on it and scored under `seed`.
struct Published {
  std::string_view task;
  double score_3b = 0;
  double score_8b = 0;
};
std::span<const Published> published();  // of the five tasks, in their order

// The same on graphs that training never saw, and what two constant actions score on 200 such graphs (drawn
// at level 0.6): measured on the environment, not here.
struct PublishedUnseen {
  double score_3b = 0;
  double score_8b = 0;
  double fusing_128 = 0;
  double fusing_256 = 0;
};
PublishedUnseen published_unseen();

// None unless the workload is one of the five tasks, its machine included.
std::optional<Published> published_for(const Workload& workload);

}  // namespace fuselage::oracle
