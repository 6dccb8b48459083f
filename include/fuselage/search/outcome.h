// What an engine answers: the best plan, what bounds it, and whether that is a proof. Nothing is claimed
// beyond the three values of Proof.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/core/cost.h"

namespace fuselage::search {

enum class Proof : std::uint8_t {
  none,
  optimal_in_declared_space,  // a capped space was exhausted
  optimal,                    // the bound meets the cost (core/cost.h), over all legal kernels
};

constexpr const char* name(Proof proof) {
  if (proof == Proof::optimal) return "optimal";
  return proof == Proof::none ? "none" : "optimal in the declared space";
}

template <class State, class Kernel>
struct Outcome {
  bool found = false;       // is there a plan?
  bool infeasible = false;  // proven: no schedule exists
  std::vector<Kernel> plan;
  double cost = std::numeric_limits<double>::infinity();  // cycles, summed in plan order
  double lower_bound = 0;                                 // cycles; what is proven of all legal plans
  Proof proof = Proof::none;
  StopReason stop = StopReason::exhausted;
  std::uint64_t steps = 0;   // kernels priced
  std::uint64_t states = 0;  // states expanded
  double seconds = 0;
  std::string_view engine = {};  // that found the plan, if one of several did
  std::vector<State> deepest;    // infeasible only: the states of most progress
};

// The best plan that somebody knows.
template <class Kernel>
struct Incumbent {
  double cost = std::numeric_limits<double>::infinity();
  std::vector<Kernel> plan = {};

  bool found() const { return cost < std::numeric_limits<double>::infinity(); }
};

// A bound holds for every legal plan: one that the cost meets is a proof, whoever found the two. It is the
// bound of the plan at most, and never raised to the cost for being close to it.
inline void settle_proof(double cost, double& lower_bound, Proof& proof) {
  lower_bound = std::min(lower_bound, cost);
  if (meets(lower_bound, cost)) proof = Proof::optimal;
}

// What an engine that has stopped has to say, as one answer. Every engine has best(), lower_bound(), proof(),
// states(); one that can prove that there is no plan also has infeasible() and deepest().
template <class Engine>
auto outcome_of(const Engine& engine, const Meter& meter) {
  Outcome<typename Engine::State, typename Engine::Kernel> result;
  result.found = engine.best().found();
  result.plan = engine.best().plan;
  result.cost = engine.best().cost;
  result.lower_bound = engine.lower_bound();
  result.proof = result.found ? engine.proof() : Proof::none;
  result.stop = meter.reason();
  result.steps = meter.steps();
  result.states = engine.states();
  result.seconds = meter.seconds();
  if constexpr (requires { engine.infeasible(); }) {
    result.infeasible = engine.infeasible();
    if (result.infeasible) {
      result.deepest = engine.deepest();
      result.lower_bound = std::numeric_limits<double>::infinity();
    }
  }
  if (result.found) settle_proof(result.cost, result.lower_bound, result.proof);
  return result;
}

// How far a plan may be from the best there is, relative to the plan's cost.
inline double gap(double cost, double lower_bound) {
  return cost > lower_bound ? (cost - lower_bound) / cost : 0.0;
}

}  // namespace fuselage::search
