// Whatever a plan file holds, reading it ends in a plan or in an Error; and a plan is written so that it
// reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "fuselage/core/error.h"
#include "fuselage/walk/plan_json.h"

using namespace fuselage;

namespace {

std::optional<walk::PlanFile> read_or_refuse(std::string_view text) {
  try {
    return walk::read_plan(text, "fuzz.json");
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto plan = read_or_refuse({reinterpret_cast<const char*>(data), size});
  if (!plan) return 0;
  const std::string text = walk::plan_to_json(*plan);
  if (walk::plan_to_json(walk::read_plan(text, "again.json")) != text) std::abort();
  std::size_t nodes = 0;
  for (const walk::PlanKernel& kernel : plan->kernels) nodes += kernel.nodes.size();
  if (walk::actions_of(plan->kernels).size() != nodes) std::abort();
  return 0;
}
