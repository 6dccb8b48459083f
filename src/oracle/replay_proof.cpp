#include "replay_proof.h"

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/search/exact.h"

namespace fuselage::oracle {
namespace {

// A graph that defeats the proof fails its row before it takes the machine's memory. Such a stop is
// reproducible.
constexpr std::uint64_t state_bytes = std::uint64_t{4} << 30;

}  // namespace

Answer prove(const Workload& workload, const walk::ProblemOptions& options, const JsonField& optimum,
             RowCheck& check) {
  const walk::RunTable runs(workload.graph, workload.hardware);
  const walk::WalkProblem problem(workload.graph, workload.hardware, runs, options);
  const auto outcome = search::exact(problem, {.budget = {.bytes = state_bytes}});
  if (outcome.infeasible) return {.proven = {}, .infeasible = problem.explain_infeasible(outcome.deepest)};
  // A capped space that was exhausted may hold the recorded figure: then the two agree, without a proof of
  // ours.
  if (outcome.proof == search::Proof::none)
    check.differs(optimum, fmt::format("expected a proof, got {} (stopped: {}, {} states)",
                                       search::name(outcome.proof), name(outcome.stop), outcome.states));
  if (!outcome.found) return {};
  Proven proven = {.plan = problem.plan_of(outcome.plan), .cost = outcome.cost};
  const Simulation checked = simulate(workload.graph, workload.hardware, proven.plan,
                                      {.rules = options.rules, .order = options.order});
  if (checked.fault)
    check.differs(optimum, fmt::format("our plan is illegal: {}", checked.fault->message));
  else if (!agree(checked.latency, proven.cost))
    check.differs(optimum, fmt::format("our plan claims {} cycles, the check prices it {}",
                                       exact_text(proven.cost), exact_text(checked.latency)));
  // As solve() does: the engine adds up a fallback before it joins the total, so the check's sum is the
  // claim.
  proven.cost = checked.latency;
  return {.proven = std::move(proven), .infeasible = {}};
}

}  // namespace fuselage::oracle
