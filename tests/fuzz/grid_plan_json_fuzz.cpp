// Whatever a solution file holds, reading it ends in a plan or in an Error; and a plan is written so that it
// reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "fuselage/core/error.h"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = read_or_refuse({reinterpret_cast<const char*>(data), size});
  if (!file) return 0;
  const std::string text = grid::plan_to_json(file->plan, file->latencies);
  const grid::PlanFile again = grid::read_plan(text, "again.json");
  if (again.plan != file->plan || grid::plan_to_json(again.plan, again.latencies) != text) std::abort();
  return 0;
}
