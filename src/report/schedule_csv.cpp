#include <fmt/format.h>

#include "fuselage/core/json.h"
#include "fuselage/report/export.h"

namespace fuselage::report {

std::string schedule_csv(const Schedule& schedule) {
  std::string text =
      "kernel,ops,tile,traversal,retain,loads,stores,loaded,stored,compute,memory,launch,launches,latency,"
      "start,"
      "end,bound,working_set,working_set_share,held,held_size\n";
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    const Kernel& kernel = schedule.kernels[k];
    text += fmt::format("{},{},{},{},{},{},{},", k, fmt::join(kernel.ops, " "), kernel.tile, kernel.traversal,
                        fmt::join(kernel.retain, " "), fmt::join(kernel.loads, " "),
                        fmt::join(kernel.stores, " "));
    for (const double value : {kernel.loaded, kernel.stored, kernel.compute, kernel.memory, kernel.launch})
      text += json_number(value) + ',';
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", kernel.launches, json_number(kernel.latency),
                        json_number(kernel.start), json_number(kernel.end), kernel.bound, kernel.working_set,
                        json_number(kernel.working_set_share), fmt::join(kernel.held, " "), kernel.held_size);
  }
  return text;
}

}  // namespace fuselage::report
