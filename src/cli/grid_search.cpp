#include "grid_search.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/grid/plan_json.h"
#include "fuselage/oracle/grid_solve.h"
#include "fuselage/oracle/store_grid.h"
#include "grid_report.h"
#include "plan_paths.h"
#include "report_cells.h"
#include "search_log.h"
#include "search_store.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

// What one search shares with the next.
struct Session {
  const SearchOptions& options;
  oracle::GridSolveOptions solve;
  SearchLog log;
  SearchStore store;
};

oracle::GridSolveOptions solve_options(const SearchOptions& options) {
  const oracle::SolveOptions& common = options.solve;
  oracle::GridSolveOptions solve = {
      .rules = {.compute = options.family.compute, .co_consumers = options.family.co_consumers},
      .space = options.space,
      .engine = common.engine,
      .budget = common.budget,
      .width = common.width,
      .seed = common.seed,
      .threads = common.threads};
  if (options.bundle) solve.guide = options.bundle->grid;
  solve.keeping = keeping_of(options.guide, solve.keeping);
  return solve;
}

std::string plan_text(const oracle::GridSolution& solution) {
  std::vector<double> latencies;
  for (const grid::KernelReport& kernel : solution.evaluation.kernels) latencies.push_back(kernel.latency);
  return grid::plan_to_json(solution.plan, latencies);
}

GridAnswer search_one(const GridTarget& problem, const grid::Rules& rules, Session& session,
                      const std::string& plan_path) {
  GridAnswer answer{.name = problem.name, .ops = problem.instance.op_count(), .rules = rules};
  try {
    check_grid_shapes(problem, rules);
  } catch (const Error& error) {
    answer.error = error.what();
    return answer;
  }
  try {
    session.log.begin(problem.name);
    search::Monitor monitor(session.log.listener());
    oracle::GridSolveOptions options = session.solve;
    options.rules = rules;
    options.monitor = &monitor;
    answer.known = session.store.known(oracle::store_key(problem.instance, rules));
    const oracle::GridSolution& solution =
        answer.solution.emplace(oracle::solve_grid(problem.instance, options));
    answer.scores = scores_of(problem.instance, rules, solution.latency);
    if (!plan_path.empty()) {
      write_file_atomically(plan_path, plan_text(solution));
      answer.plan_path = plan_path;
    }
    session.store.offer(problem.name, [&] {
      return oracle::make_record(problem.instance,
                                 {.name = problem.name,
                                  .rules = rules,
                                  .plan = solution.plan,
                                  .evaluation = solution.evaluation,
                                  .lower_bound = solution.lower_bound,
                                  .proof = solution.proof},
                                 origin_of(solution.engine, session.options.solve));
    });
  } catch (const Error& error) {
    answer.error = answer.solution ? error.what() : fmt::format("{}: {}", problem.name, error.what());
  }
  return answer;
}

std::optional<grid::RuleSet> given_rules(const SearchOptions& options) {
  if (options.family.rules.empty()) return std::nullopt;
  return std::get<grid::RuleSet>(options.family.rules.front());
}

// The rules of each problem. Error if a flag was given that none of them has.
std::vector<grid::Rules> rules_of(const std::vector<GridTarget>& problems, const SearchOptions& options) {
  std::vector<grid::Rules> rules;
  for (const GridTarget& problem : problems)
    rules.push_back(grid_rules_of(problem, options.family, given_rules(options)));
  return rules;
}

std::string plans_line(const std::vector<GridAnswer>& answers, const std::string& out) {
  const auto written =
      std::count_if(answers.begin(), answers.end(), [](const GridAnswer& a) { return !a.plan_path.empty(); });
  return fmt::format("{} plan{} written to {}\n", written, written == 1 ? "" : "s", out);
}

}  // namespace

int search_grid(const std::vector<GridTarget>& problems, const SearchOptions& options) {
  const std::vector<grid::Rules> rules = rules_of(problems, options);
  const std::vector<std::string> paths = plan_paths(names_of(problems), options.out, options.targets.targets);
  Session session = {.options = options,
                     .solve = solve_options(options),
                     .log = SearchLog(!options.quiet, !options.log.empty()),
                     .store = SearchStore(options.store, !options.no_store)};
  std::vector<GridAnswer> answers;
  {
    const Progress progress(problems.size());
    for (std::size_t i = 0; i < problems.size() && !*options.solve.budget.cancel; ++i) {
      progress.show(i, problems[i].name);
      answers.push_back(search_one(problems[i], rules[i], session, paths[i]));
    }
  }
  const bool is_logged = session.log.write(options.log);
  if (options.json) {
    auto json = grid_json(answers, session.solve);
    json["guide"] = nullptr;
    if (options.bundle)
      json["guide"] = {{"bundle", options.bundle->path},
                       {"keep", session.solve.keeping.most},
                       {"margin", session.solve.keeping.margin}};
    write_stdout(dump(json));
  } else {
    write_stdout(grid_table(answers, session.solve));
    if (!options.out.empty()) write_stdout(plans_line(answers, options.out));
  }
  int exit_code = is_logged ? exit_ok : exit_bad_input;
  for (const GridAnswer& answer : answers) {
    if (answer.error.empty()) continue;
    print_error(answer.error);
    exit_code = exit_bad_input;
  }
  if (answers.size() < problems.size())
    print_note(fmt::format("interrupted; {} of {} problems not searched", problems.size() - answers.size(),
                           problems.size()));
  return exit_code;
}

}  // namespace fuselage::cli
