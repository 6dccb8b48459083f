#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/plan_json.h"
#include "grid_search.h"
#include "interrupt.h"
#include "plan_paths.h"
#include "report_cells.h"
#include "search_fronts.h"
#include "search_log.h"
#include "search_options.h"
#include "search_report.h"
#include "search_store.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(The search begins with greedy's plan and improves it until it is proven optimal, a budget ends or
Ctrl-C is pressed; the best plan so far is printed in any case, with its gaps: to greedy
(improvement), to the best plan ever found for the graph (known), and to a proven lower bound (proof).
A plan is optimal if a bound on all legal plans meets its cost within 1e-9 relative; the bound that is
shown is the proven one, never the cost for being close to it. Searches end where nothing cheaper is left,
to the last digit, if their budget lets them.
A second Ctrl-C, half a second later or more, ends at once. Budgets are per graph. A step prices one
kernel: with the same seed, threads and --steps the answer is the same everywhere. Latencies of walk
graphs are in cycles; states counts those that the search expanded. On a terminal a log shows what long
searches do.

Under seed and seed-honest the greedy column is the figure of the environment, which reads last uses
free. No plan can; --engine greedy plays the same groups as an agent would, and may come out above it.

They also let a kernel need more than fast memory has, for a fixed penalty: the table says so ("1 kernel
overflows"). No machine runs such a plan, and --rules physical refuses it.

A grid problem is a file in the JSON of the MLSys 2026 contest ("widths", "op_types", ...), or a task
of fusionops. Its plan is the contest's solution, with the latencies that the judge finds; check it with
'fuselage evaluate'. Latencies are in the problem's time units, and the gap is part of the proof column.

With --guide a learned model chooses which kernels are priced: far fewer, at the risk of missing the best
(models/default/README.md has the figures). Only auto's prover, which it doesn't guide, proves anything.

The store is --store FILE, or the user's ('fuselage best --help'). A damaged one is kept as FILE.damaged and
a new one begins; one that can't be used costs a note, not the search (--no-store: none).

Exit code: 0, also when a budget ended; 1 if a budget or a baseline ended without any plan;
2 for bad input and for graphs that have no schedule (the others are still done).

Examples:
  fuselage search all
  fuselage search task4_mixed --rules physical --order free --out plans
  fuselage search graphs.jsonl --steps 100000 --time 10 --json
  fuselage search task4_mixed --engine beam --width 64 --price traffic=0.1
  fuselage search task4_mixed --pareto traffic
  fuselage search task2_residual --set slow_mem_bandwidth=12 --set max_fusion_depth=3
  fuselage search graphs.jsonl --engine beam --width 8 --guide models/default --keep 4
  fuselage generate --ops 40 --difficulty expert --seed 7 | fuselage search -
Examples of grid problems:
  fuselage search problem.json --time 15 --out solution.json
  fuselage search problem.json --compute native-k --co-consumers --engine beam --width 64
  fuselage search all --family grid --rules fusionops
  fuselage search task3_matmul --steps 100000 --json)";

using nlohmann::ordered_json;

walk::PlanFile plan_file(const Workload& workload, const oracle::Solution& solution,
                         const oracle::SolveOptions& options) {
  walk::PlanFile file{.workload = workload, .rules = options.rules, .order = options.order};
  file.kernels = solution.plan;
  file.latency = solution.latency;
  file.greedy_latency = solution.greedy_latency;
  file.naive_latency = solution.naive_latency;
  if (options.price ==
      walk::Price{}) {  // bound and proof are about the objective, a plan file about its latency
    file.lower_bound = solution.lower_bound;
    file.proof = search::name(solution.proof);
  }
  if (options.rules != walk::Rules::physical) file.actions = walk::actions_of(solution.plan);
  return file;
}

std::string why_no_plan(const Workload& workload, const oracle::Solution& solution,
                        const oracle::SolveOptions& options) {
  if (const auto& infeasible = solution.infeasible)
    return fmt::format(
        "{}: no schedule exists under the rules {}: node {} needs a working set of at least {} B, but "
        "fast_mem_capacity is {} B ({} B more)",
        workload.name, walk::name(options.rules), infeasible->node, grouped(infeasible->smallest_working_set),
        grouped(infeasible->capacity), grouped(infeasible->smallest_working_set - infeasible->capacity));
  if (solution.stop == StopReason::exhausted)
    return fmt::format("{}: the engine {} finds no plan under the rules {}; try --engine auto", workload.name,
                       oracle::name(options.engine), walk::name(options.rules));
  return fmt::format("{}: the budget ended ({}) before there was any plan; give it more", workload.name,
                     name(solution.stop));
}

oracle::ParetoOptions pareto_options(const SearchOptions& options) {
  return {.rules = options.solve.rules,
          .order = options.solve.order,
          .budget = options.solve.budget,
          .threads = options.solve.threads};
}

oracle::Record record_of(const walk::PlanFile& file, const oracle::Solution& solution,
                         const oracle::SolveOptions& options) {
  return oracle::make_record(file, origin_of(solution.engine, options),
                             {.price = options.price,
                              .cost = solution.cost,
                              .lower_bound = solution.lower_bound,
                              .proof = solution.proof});
}

// What one search shares with the next.
struct Session {
  const SearchOptions& options;
  SearchLog log;
  SearchStore store;
};

Answer search_one(const Workload& workload, Session& session, const std::string& plan_path) {
  Answer answer;
  answer.name = workload.name;
  answer.ops = workload.graph.size();
  const auto start = std::chrono::steady_clock::now();
  ::malloc_trim(0);  // what earlier graphs took is no memory of this one
  try {
    session.log.begin(workload.name);
    search::Monitor monitor(session.log.listener());
    oracle::SolveOptions options = session.options.solve;
    options.monitor = &monitor;
    answer.known =
        session.store.known(oracle::store_key(workload, options.rules, options.order, options.price));
    answer.solution = oracle::solve(workload, options);
    answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!answer.solution->found) {
      answer.error = why_no_plan(workload, *answer.solution, options);
      return answer;
    }
    const walk::PlanFile file = plan_file(workload, *answer.solution, options);
    if (!plan_path.empty()) {
      write_file_atomically(plan_path, plan_to_json(file));
      answer.plan_path = plan_path;
    }
    session.store.offer(workload.name, [&] { return record_of(file, *answer.solution, options); });
  } catch (const Error& error) {
    answer.error = error.what();
  }
  return answer;
}

std::vector<Answer> search_all(const std::vector<Workload>& workloads, Session& session) {
  const std::vector<std::string> paths =
      plan_paths(names_of(workloads), session.options.out, session.options.targets.targets);
  std::vector<Answer> answers;
  const Progress progress(workloads.size());
  for (std::size_t i = 0; i < workloads.size() && !*session.options.solve.budget.cancel; ++i) {
    progress.show(i, workloads[i].name);
    answers.push_back(search_one(workloads[i], session, paths[i]));
  }
  return answers;
}

int exit_code_of(const Answer& answer) {
  if (answer.error.empty()) return exit_ok;
  const bool only_unfound = answer.solution && !answer.solution->found && !answer.solution->infeasible;
  return only_unfound ? exit_negative : exit_bad_input;
}

std::string plans_line(const std::vector<Answer>& answers, const std::string& out) {
  const auto written =
      std::count_if(answers.begin(), answers.end(), [](const Answer& a) { return !a.plan_path.empty(); });
  return fmt::format("{} plan{} written to {}\n", written, written == 1 ? "" : "s", out);
}

ordered_json guide_json(const SearchOptions& options) {
  if (!options.bundle) return nullptr;
  const oracle::WalkGuideOptions& guide = options.solve.guide_options;
  return {{"bundle", options.bundle->path},
          {"keep", guide.keeping.most},
          {"margin", guide.keeping.margin},
          {"rank_by", guide.value ? "model" : "bound"},
          {"lookahead", guide.lookahead}};
}

int search_walk(const std::vector<Workload>& workloads, const SearchOptions& options) {
  if (options.solve.order == walk::Order::free && options.solve.rules != walk::Rules::physical)
    fail("--order: free does not exist under the rules {}; expected --rules physical with it",
         walk::name(options.solve.rules));
  if (!options.pareto.empty() && options.solve.price != walk::Price{})
    fail("--pareto: traffic excludes --price; expected one of the two");
  if (!options.pareto.empty())
    return search_fronts(workloads,
                         {.options = pareto_options(options),
                          .paths = plan_paths(names_of(workloads), options.out, options.targets.targets),
                          .json = options.json});
  Session session = {.options = options,
                     .log = SearchLog(!options.quiet, !options.log.empty()),
                     .store = SearchStore(options.store, !options.no_store)};
  const std::vector<Answer> answers = search_all(workloads, session);
  const bool is_logged = session.log.write(options.log);
  if (options.json) {
    auto json = search_json(answers, options.solve);
    json["guide"] = guide_json(options);
    write_stdout(dump(json));
  } else {
    write_stdout(search_table(answers, options.solve));
    if (!options.out.empty()) write_stdout(plans_line(answers, options.out));
  }
  int exit_code = is_logged ? exit_ok : exit_bad_input;
  for (const Answer& answer : answers) {
    if (!answer.error.empty()) print_error(answer.error);
    exit_code = std::max(exit_code, exit_code_of(answer));
  }
  if (answers.size() < workloads.size())
    print_note(fmt::format("interrupted; {} of {} graphs not searched", workloads.size() - answers.size(),
                           workloads.size()));
  return exit_code;
}

int search(SearchOptions options, const CLI::App& command) {
  const AnyTargets targets = read_any_targets(options.targets, options.family);
  refuse_foreign_options(command, targets.family);
  if (targets.family == Family::walk && !options.family.rules.empty())
    options.solve.rules = std::get<walk::Rules>(options.family.rules.front());
  set_engine(options);
  set_guide(options, targets.family);
  options.solve.budget.cancel = &stop_on_interrupt();
  return targets.family == Family::walk ? search_walk(targets.workloads, options)
                                        : search_grid(targets.problems, options);
}

}  // namespace

void add_search(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("search", "Find the best schedule of graphs, and prove it");
  command.footer(footer);
  auto options = std::make_shared<SearchOptions>();
  add_search_options(command, *options);
  command.callback([options, &command, &exit_code] { exit_code = search(*options, command); });
}

}  // namespace fuselage::cli
