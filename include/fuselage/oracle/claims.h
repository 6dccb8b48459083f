// Does a plan file tell the truth of its plan? Anyone may write one, and a reader wants to trust what it
// says.
#pragma once

#include <string>

#include "fuselage/oracle/simulate.h"
#include "fuselage/walk/plan_json.h"

namespace fuselage::oracle {

// What is wrong with the plan, or with a claim about it: illegal, another latency (1e-9 relative), a bound
// that its own cost refutes, `optimal` without a bound that says so, actions that take another time. Empty:
// nothing. `simulation` is what simulate() said of the plan.
std::string false_claim(const walk::PlanFile& plan, const Simulation& simulation);

}  // namespace fuselage::oracle
