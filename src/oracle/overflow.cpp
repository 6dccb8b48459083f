#include "fuselage/oracle/overflow.h"

#include <fmt/format.h>

#include <algorithm>

namespace fuselage::oracle {

int overflows(const Simulation& simulation) {
  return static_cast<int>(std::count_if(simulation.kernels.begin(), simulation.kernels.end(),
                                        [](const KernelReport& kernel) { return kernel.fallback; }));
}

int overflows(const Workload& workload, const walk::Plan& plan, walk::Rules rules) {
  if (rules == walk::Rules::physical) return 0;
  return overflows(simulate(workload.graph, workload.hardware, plan, {.rules = rules}));
}

std::string overflow_words(int overflows) {
  return overflows == 1 ? "1 kernel overflows" : fmt::format("{} kernels overflow", overflows);
}

std::string overflow_meaning() {
  return "overflow: needs more than fast memory has, at a fixed penalty; --rules physical is the rule set "
         "without that loophole";
}

std::string overflow_line(int overflows) {
  return overflows == 0 ? "" : fmt::format("{} ({})\n", overflow_words(overflows), overflow_meaning());
}

}  // namespace fuselage::oracle
