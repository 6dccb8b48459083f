#include <array>

#include "fuselage/core/error.h"
#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/plan_json.h"
#include "fuselage/grid/problem_json.h"
#include "replay_kinds.h"

namespace fuselage::oracle {
namespace {

using grid::Compute;
using grid::Evaluation;

constexpr std::array<std::string_view, 13> row_fields = {
    "id",           "source",   "problem",          "solution",
    "valid",        "error",    "expected_latency", "expected_latency_native_k",
    "co_consumers", "official", "per_step_latency", "working_set",
    "note"};

// A figure of a plan that may be illegal: null then, and equal within the tolerance of optima otherwise,
// since iterations may be summed in another order.
void check_latency(const JsonField& expected, const Evaluation& got, RowCheck& check) {
  if (!got.valid()) return check.number_or_null(expected, std::nullopt);
  if (expected.is_null()) return check.number_or_null(expected, got.latency);
  check.optimum(expected, got.latency);
}

void check_steps(const JsonField& row, const Evaluation& got, RowCheck& check) {
  const JsonField latencies = row.required("per_step_latency");
  const JsonField working_sets = row.required("working_set");
  const auto kernels = got.valid() ? got.kernels : std::vector<grid::KernelReport>{};
  for (const JsonField* list : {&latencies, &working_sets}) {
    if (list->is_null()) {
      check.expect(!got.valid(), *list, "expected no steps, got a legal plan");
      continue;
    }
    const std::size_t count = list->array_size();
    check.expect(got.valid() && count == kernels.size(), *list,
                 fmt::format("expected {} steps, got {}", count, kernels.size()));
    for (std::size_t i = 0; i < count; ++i) {
      const JsonField figure = list->element(i);
      const grid::KernelReport report = i < kernels.size() ? kernels[i] : grid::KernelReport{};
      if (list == &latencies) check.optimum(figure, report.latency);
      if (list == &working_sets) check.integer(figure, report.working_set);
    }
  }
}

}  // namespace

void replay_mlsys(const JsonField& row, RowCheck& check) {
  row.only(row_fields);
  const grid::Instance instance = grid::read_problem(row.required("problem"));
  const grid::PlanFile file = grid::read_plan(row.required("solution"));
  grid::Rules rules{.set = grid::RuleSet::mlsys};
  if (const auto flag = row.optional("co_consumers")) rules.co_consumers = flag->boolean();
  const Evaluation got = grid::evaluate(instance, rules, file.plan);
  check.text(row.required("error"), got.valid() ? "" : grid::fault_name(got.violation->fault));
  check.flag(row.required("valid"), got.valid());
  check_latency(row.required("expected_latency"), got, check);
  check_steps(row, got, check);
  if (const auto native = row.optional("expected_latency_native_k")) {
    rules.compute = Compute::native_k;
    check_latency(*native, grid::evaluate(instance, rules, file.plan), check);
  }
}

}  // namespace fuselage::oracle
