#include "search_fronts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/walk/plan_json.h"
#include "pareto_report.h"
#include "plan_paths.h"
#include "report_cells.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

void write_plans(const Workload& workload, const oracle::ParetoFront& front,
                 const oracle::ParetoOptions& options, const std::string& path) {
  for (std::size_t i = 0; i < front.points.size(); ++i) {
    walk::PlanFile file{.workload = workload, .rules = options.rules, .order = options.order};
    file.kernels = front.points[i].plan;
    file.latency = front.points[i].latency;
    if (options.rules != walk::Rules::physical) file.actions = walk::actions_of(file.kernels);
    write_file_atomically(with_suffix(path, fmt::format("-{}", i + 1)), plan_to_json(file));
  }
}

FrontAnswer front_of(const Workload& workload, const oracle::ParetoOptions& options,
                     const std::string& path) {
  FrontAnswer answer;
  answer.name = workload.name;
  answer.ops = workload.graph.size();
  const auto start = std::chrono::steady_clock::now();
  try {
    answer.front = oracle::pareto_traffic(workload, options);
    if (!path.empty()) write_plans(workload, *answer.front, options, path);
    if (answer.front->points.empty())
      answer.error = answer.front->proof == search::Proof::none
                         ? fmt::format("{}: the budget ended before there was any plan", workload.name)
                         : fmt::format("{}: no schedule exists under the rules {}", workload.name,
                                       walk::name(options.rules));
  } catch (const Error& error) {
    answer.error = error.what();
  }
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

std::vector<FrontAnswer> all_fronts(const std::vector<Workload>& workloads, const FrontSearch& search) {
  std::vector<FrontAnswer> answers;
  const Progress progress(workloads.size());
  const std::atomic<bool>* cancel = search.options.budget.cancel;
  for (std::size_t i = 0; i < workloads.size() && !(cancel && *cancel); ++i) {
    progress.show(i, workloads[i].name);
    answers.push_back(front_of(workloads[i], search.options, search.paths[i]));
  }
  return answers;
}

}  // namespace

int search_fronts(const std::vector<Workload>& workloads, const FrontSearch& search) {
  const std::vector<FrontAnswer> answers = all_fronts(workloads, search);
  if (search.json)
    write_stdout(dump(pareto_json(answers, search.options)));
  else
    write_stdout(pareto_table(answers, search.options));
  int exit_code = exit_ok;
  for (const FrontAnswer& answer : answers) {
    if (answer.error.empty()) continue;
    print_error(answer.error);
    const bool unfound = answer.front && answer.front->proof == search::Proof::none;
    exit_code = std::max(exit_code, unfound ? exit_negative : exit_bad_input);
  }
  return exit_code;
}

}  // namespace fuselage::cli
