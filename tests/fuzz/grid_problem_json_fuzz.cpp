// Whatever a problem file holds, reading it ends in an instance or in an Error; and an instance is written so
// that it reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "fuselage/core/error.h"
#include "fuselage/grid/problem_json.h"

using namespace fuselage;

namespace {

std::optional<grid::Instance> read_or_refuse(std::string_view text) {
  try {
    return grid::read_problem(text, "fuzz.json");
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto instance = read_or_refuse({reinterpret_cast<const char*>(data), size});
  if (!instance) return 0;
  const std::string text = grid::problem_to_json(*instance);
  if (grid::problem_to_json(grid::read_problem(text, "again.json")) != text) std::abort();
  if (instance->order().size() != instance->ops().size()) std::abort();
  return 0;
}
