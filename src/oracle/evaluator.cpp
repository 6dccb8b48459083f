#include "fuselage/oracle/evaluator.h"

#include "fuselage/oracle/simulate.h"

namespace fuselage::oracle {

bool RooflineEvaluator::evaluate(std::span<const Request> requests, const Answered& answered) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Simulation priced =
        simulate(workload_.graph, workload_.hardware, *requests[i].plan, {.rules = walk::Rules::seed_honest});
    Measurement measured;
    if (priced.fault)
      measured.failure = priced.fault->message;
    else
      measured.latency = priced.latency;
    answered(i, measured);
  }
  return true;
}

}  // namespace fuselage::oracle
