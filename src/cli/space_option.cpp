#include "space_option.h"

#include <fmt/format.h>

#include <string>

#include "fuselage/core/number_text.h"
#include "key_values.h"

namespace fuselage::cli {
namespace {

const KeyValueOption option = {
    .name = "--space",
    .keys = {"ops", "groups", "retain", "starts", "window"},
    .expected =
        "ops=N (of a kernel, default 12), groups=N (of an op, 400), retain=N (tensors at once, 2), "
        "starts=N (ops where the next kernel may start, 4) and window=N (ops among which they are, "
        "512), some of them, with commas between"};

}  // namespace

grid::SpaceOptions parse_space(std::string_view text) {
  grid::SpaceOptions space;
  for (const auto& [key, value] : parse_key_values(option, text)) {
    const std::string named = fmt::format("--space: {}", option.keys[key]);
    const auto number = [&, text = value](std::int64_t min, std::int64_t max) {
      return read_integer(named, text, {.min = min, .max = max});
    };
    if (key == 0) space.most_ops = static_cast<int>(number(1, 64));
    if (key == 1) space.groups_per_op = static_cast<int>(number(1, 1'000'000));
    if (key == 2) space.most_retained = static_cast<int>(number(0, 2));
    if (key == 3) space.starts = static_cast<int>(number(1, 1'000'000));
    if (key == 4) space.window = static_cast<std::size_t>(number(1, 1'000'000));
  }
  return space;
}

}  // namespace fuselage::cli
