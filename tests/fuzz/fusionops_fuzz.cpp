// Actions are bytes from outside: whatever they are, a game goes on, its sums hold, and what is read as a
// step reads back from its own text. A line of the input is an action; the first byte chooses task and rules.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuselage/grid/episode.h"

using namespace fuselage::grid;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const FusionopsTask& task = fusionops_tasks()[data[0] % 4];
  const bool honest = (data[0] & 4) != 0;
  Episode episode(task.instance, {.rules = honest ? RuleSet::fusionops_honest : RuleSet::fusionops,
                                  .max_steps = task.max_steps,
                                  .allow_recomputation = (data[0] & 8) == 0});
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  while (!text.empty() && !episode.done()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (const auto step = parse_step(line, task.instance.machine()))
      check(parse_step(step_text(*step), task.instance.machine()) == step);
    const double before = episode.total_latency();
    const StepResult result = episode.step(line);
    check(result.cost.has_value() != result.error.has_value());
    check(episode.total_latency() == before + (result.cost ? result.cost->latency : 0));
    check(result.error || result.cost->working_set <= static_cast<double>(task.instance.machine().capacity));
  }
  check(!episode.observation().empty());
  return 0;
}
