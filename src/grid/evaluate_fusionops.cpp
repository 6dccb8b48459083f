#include "evaluate_fusionops.h"

#include <fmt/format.h>

#include <cassert>

#include "fuselage/grid/fusionops.h"

namespace fuselage::grid {
namespace {

Fault fault_of(StepFault fault) {
  switch (fault) {
    case StepFault::unknown_op:
      return Fault::unknown_op;
    case StepFault::already_scheduled:
    case StepFault::duplicate_op:
      return Fault::duplicate_op;
    case StepFault::dependency:
    case StepFault::not_stored:
      return Fault::not_available;
    case StepFault::connectivity:
      return Fault::not_connected;
    case StepFault::retention:
      return Fault::retain;
    case StepFault::memory:
      return Fault::out_of_memory;
    case StepFault::traversal_length:
    case StepFault::traversal_order:
      return Fault::traversal;
    case StepFault::parse:
    case StepFault::dimensions:
      break;
  }
  return Fault::grid;
}

KernelReport report_of(const StepCost& cost) {
  return {.latency = cost.latency,
          .working_set = static_cast<std::int64_t>(cost.working_set),
          .tiles = cost.tiles,
          .k_steps = cost.k_steps,
          .compute = cost.compute,
          .transferred = cost.transferred,
          .stored = cost.stored};
}

std::optional<Violation> unfinished(const Instance& instance, bool honest, const StepState& state) {
  for (OpId id = 0; id < instance.op_count(); ++id)
    if (!state.ran[static_cast<std::size_t>(id)])
      return Violation{.fault = Fault::coverage, .message = fmt::format("op {} is run by no kernel", id)};
  for (TensorId id = 0; honest && id < instance.tensor_count(); ++id)
    if (instance.is_output(id) && !state.stored[static_cast<std::size_t>(id)])
      return Violation{.fault = Fault::output_not_stored,
                       .message = fmt::format("tensor {} is a graph output, and every kernel that makes it "
                                              "retains it; expected one that stores it",
                                              id)};
  return std::nullopt;
}

}  // namespace

Evaluation evaluate_fusionops(const Instance& instance, const Rules& rules, const Plan& plan) {
  assert(rules.set == RuleSet::fusionops || rules.set == RuleSet::fusionops_honest);
  const StepRules step_rules{.honest = rules.set == RuleSet::fusionops_honest};
  Evaluation evaluation;
  StepState state(instance);
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const StepJudgement judgement = judge_step(instance, step_rules, state, plan.kernels[i]);
    if (judgement.error) {
      evaluation.violation = Violation{.fault = fault_of(judgement.error->fault),
                                       .kernel = static_cast<int>(i),
                                       .message = fmt::format("kernel {}: {}", i, judgement.error->message)};
      return evaluation;
    }
    apply_step(instance, plan.kernels[i], state);
    evaluation.latency += judgement.cost.latency;
    evaluation.kernels.push_back(report_of(judgement.cost));
  }
  evaluation.violation = unfinished(instance, step_rules.honest, state);
  return evaluation;
}

}  // namespace fuselage::grid
