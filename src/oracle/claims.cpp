#include "fuselage/oracle/claims.h"

#include <fmt/format.h>

#include "fuselage/core/cost.h"
#include "fuselage/core/json.h"
#include "fuselage/walk/episode.h"

namespace fuselage::oracle {
namespace {

// Cycles of the episode that the file's actions play.
double played_latency(const walk::PlanFile& plan) {
  const walk::EpisodeContext context(plan.workload);
  walk::Episode episode(context, {.rules = plan.rules});
  for (const walk::Action& action : plan.actions) episode.step(action);
  return episode.total_latency();
}

}  // namespace

std::string false_claim(const walk::PlanFile& plan, const Simulation& simulation) {
  if (const auto& fault = simulation.fault)
    return fmt::format("illegal, {}: {}", name(fault->code), fault->message);
  if (!agree(plan.latency, simulation.latency))
    return fmt::format("latency: the file claims {}, the kernels take {} cycles", json_number(plan.latency),
                       json_number(simulation.latency));
  if (plan.lower_bound && *plan.lower_bound > plan.latency && !agree(*plan.lower_bound, plan.latency))
    return fmt::format("lower_bound: the file claims {}, but the plan takes only {} cycles",
                       json_number(*plan.lower_bound), json_number(simulation.latency));
  if (plan.proof == "optimal" && !(plan.lower_bound && agree(*plan.lower_bound, plan.latency)))
    return "proof: the file claims \"optimal\" without a lower_bound equal to its latency";
  if (plan.actions.empty()) return {};
  const double played = played_latency(plan);
  if (agree(played, plan.latency)) return {};
  return fmt::format("actions: they take {}, the kernels {} cycles", json_number(played),
                     json_number(simulation.latency));
}

}  // namespace fuselage::oracle
