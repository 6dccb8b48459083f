// Whatever a solution file holds, reading it ends in a plan or in an Error; a plan is written so that it
// reads back the same; and the judge of the contest's rules says of any plan what it takes or what it breaks.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "fuselage/core/error.h"
#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/plan_json.h"

using namespace fuselage;

namespace {

std::optional<grid::PlanFile> read_or_refuse(std::string_view text) {
  try {
    return grid::read_plan(text, "fuzz.json");
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A matmul (K 4) whose output a pointwise op and a second matmul (K 8) read.
const grid::Instance& problem() {
  using enum grid::OpKind;
  static const grid::Instance instance(
      {{4, 4}, {8, 4}, {8, 4}, {8, 4}, {8, 8}, {8, 4}},
      {{.kind = matmul, .inputs = {0, 1}, .outputs = {2}, .base_cost = 15},
       {.kind = pointwise, .inputs = {2}, .outputs = {3}, .base_cost = 2.5},
       {.kind = matmul, .inputs = {2, 4}, .outputs = {5}, .base_cost = 20}},
      {.capacity = 150, .bandwidth = 2.5, .native_width = 8, .native_height = 4});
  return instance;
}

void judge(const grid::Plan& plan) {
  for (const auto compute : {grid::Compute::k, grid::Compute::native_k}) {
    const grid::Evaluation result =
        grid::evaluate(problem(), {.compute = compute, .co_consumers = true}, plan);
    if (!std::isfinite(result.latency)) std::abort();
    if (result.valid() && result.kernels.size() != plan.kernels.size()) std::abort();
    for (const grid::KernelReport& report : result.kernels)
      if (report.working_set > problem().machine().capacity) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = read_or_refuse({reinterpret_cast<const char*>(data), size});
  if (!file) return 0;
  const std::string text = grid::plan_to_json(file->plan, file->latencies);
  const grid::PlanFile again = grid::read_plan(text, "again.json");
  if (again.plan != file->plan || grid::plan_to_json(again.plan, again.latencies) != text) std::abort();
  judge(file->plan);
  return 0;
}
