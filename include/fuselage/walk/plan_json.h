// A plan as a file that stands alone: the graph and hardware it is for, the rules it was made under, its
// kernels and what is claimed for them, so that anyone can check it later with nothing else at hand.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/walk/plan.h"
#include "fuselage/walk/rules.h"

namespace fuselage::walk {

// What a plan file may claim; search/outcome.h says what each means.
inline constexpr std::array<std::string_view, 3> proof_names = {"none", "optimal in the declared space",
                                                                "optimal"};

struct PlanFile {
  Workload workload;
  Rules rules = Rules::seed_honest;
  Order order = Order::fixed;
  Plan kernels = {};
  double latency = 0;                         // cycles, all of these
  std::optional<double> greedy_latency = {};  // none: greedy finds no plan
  std::optional<double> naive_latency = {};   // none: some node fits only together with others
  std::optional<double> lower_bound = {};     // none: nothing is claimed
  std::string proof = "none";                 // one of proof_names
  std::vector<Action> actions = {};  // one per node; empty under `physical`, and where they aren't told
};

// Checks form and types only: whether the kernels make a legal plan is for simulate() to say. Error for
// fields that are unknown, missing or out of range, integers beyond int, an empty kernel, `free` order
// outside `physical`.
PlanFile read_plan(std::string_view text, const std::string& source);

// Stable to the byte; one node, kernel and action per line. The costs must be finite.
std::string plan_to_json(const PlanFile& plan);

}  // namespace fuselage::walk
