// fuselage-mlsys INPUT OUTPUT: the MLSys 2026 contest's own interface. Writes a valid solution early and a
// better one whenever it has one, whole files only, until the contest's time for a problem of this size is
// up.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/grid/plan_json.h"
#include "fuselage/grid/problem_json.h"
#include "fuselage/grid/shapes.h"
#include "fuselage/oracle/grid_anytime.h"
#include "interrupt.h"
#include "standard_streams.h"
#include "terminal.h"

namespace fuselage {
namespace {

constexpr std::string_view usage =
    R"(Usage: fuselage-mlsys INPUT OUTPUT [--native-k]

Searches a schedule for a problem of the MLSys 2026 contest and writes it to OUTPUT: a valid one
early, a better one whenever there is one. Ends when the contest's time for a problem of this size
is nearly up (2, 5, 15, 30 or 60 s), when the schedule is proven optimal, or on Ctrl-C.
--native-k: a k-step of a matmul costs base cost x k / native width, not x k / K.

Exit code: 0 a solution is written; 2 bad usage or input; 3 internal; 130 or 143 if Ctrl-C or SIGTERM
ended it before it had read the problem.

Example:
  fuselage-mlsys problem.json solution.json
)";

// Seconds: the limits that the contest sets for its released problems of 5, 19, 32, 63 and 103 ops, with a
// margin for a slower clock and the last write.
double time_limit(int ops) {
  constexpr double margin = 0.9;
  if (ops < 12) return 2 * margin;
  if (ops < 26) return 5 * margin;
  if (ops < 48) return 15 * margin;
  return (ops < 84 ? 30 : 60) * margin;
}

int run(const std::string& input, const std::string& output, const grid::Rules& rules) {
  const grid::Instance instance = grid::read_problem_file(input);
  grid::check_shapes(instance, rules, input);
  oracle::improve_grid(instance, {.rules = rules,
                                  .wall_seconds = time_limit(instance.op_count()),
                                  .cancel = &cli::stop_on_interrupt(),
                                  .found = [&](const grid::Plan& plan, const grid::Evaluation& evaluation) {
                                    std::vector<double> latencies;
                                    for (const grid::KernelReport& kernel : evaluation.kernels)
                                      latencies.push_back(kernel.latency);
                                    write_file_atomically(output, grid::plan_to_json(plan, latencies));
                                  }});
  return 0;
}

int run_command(std::vector<std::string> arguments) {
  if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end()) {
    cli::write_stdout(usage);
    return 0;
  }
  const bool native_k = std::erase(arguments, "--native-k") > 0;
  if (arguments.size() != 2) {
    cli::write_stderr(usage);
    return 2;
  }
  return run(arguments[0], arguments[1], {.compute = native_k ? grid::Compute::native_k : grid::Compute::k});
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  using namespace fuselage;
  cli::prepare_standard_streams();
  cli::end_on_interrupt();
  try {
    return run_command({argv + 1, argv + argc});
  } catch (const Error& error) {
    cli::write_stderr(fmt::format("fuselage-mlsys: {}\n", error.what()));
    return 2;
  } catch (const std::exception& error) {
    cli::write_stderr(fmt::format("fuselage-mlsys: internal error: {}\n", error.what()));
    return 3;
  }
}
