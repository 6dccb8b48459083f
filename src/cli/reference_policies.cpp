#include "reference_policies.h"

#include "fuselage/oracle/headroom.h"
#include "fuselage/walk/answer.h"

namespace fuselage::cli {
namespace {

std::vector<std::string> texts(const std::vector<walk::Action>& actions) {
  std::vector<std::string> answers;
  for (const walk::Action& action : actions) answers.push_back(walk::answer_text(action));
  return answers;
}

}  // namespace

References reference_policies(const Workload& workload, walk::Rules rules, const Budget& budget) {
  References references{.optimum = oracle::solve(workload, {.rules = rules, .budget = budget}),
                        .policies = {}};
  for (const oracle::Policy& policy : oracle::policies())
    references.policies.push_back({.name = std::string(policy.name),
                                   .answers = texts(oracle::play_policy(workload, rules, policy).actions)});
  if (references.optimum.found)
    references.policies.push_back(
        {.name = "optimum", .answers = texts(walk::actions_of(references.optimum.plan))});
  return references;
}

}  // namespace fuselage::cli
