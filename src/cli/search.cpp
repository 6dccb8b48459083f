#include <tbb/info.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/plan_json.h"
#include "options.h"
#include "plan_paths.h"
#include "price_option.h"
#include "search_fronts.h"
#include "search_log.h"
#include "search_report.h"
#include "search_store.h"
#include "store_option.h"
#include "targets.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(The search begins with greedy's plan and improves it until it is proven optimal, a budget ends or
Ctrl-C is pressed; the best plan so far is printed in any case, with three gaps: to greedy
(improvement), to the best plan ever found for the graph (known), and to a proven lower bound (proof).
A second Ctrl-C ends at once. Budgets are per graph. A step prices one kernel: with the same seed,
threads and --steps the answer is the same everywhere. Latencies are in cycles; states counts those
that the search expanded. On a terminal a log shows what long searches do.

Under seed and seed-honest the greedy column is the figure of the environment, which reads last uses
free. No plan can; --engine greedy plays the same groups as an agent would, and may come out above it.

Exit code: 0, also when a budget ended; 1 if a budget or a baseline ended without any plan;
2 for bad input and for graphs that have no schedule (the others are still done).

Examples:
  fuselage search all
  fuselage search task4_mixed --rules physical --order free --out plans
  fuselage search graphs.jsonl --steps 100000 --time 10 --json
  fuselage search task4_mixed --engine beam --width 64 --price traffic=0.1
  fuselage search task4_mixed --pareto traffic
  fuselage search task2_residual --set slow_mem_bandwidth=12 --set max_fusion_depth=3
  fuselage generate --ops 40 --difficulty expert --seed 7 | fuselage search -)";

struct SearchOptions {
  TargetOptions targets;
  oracle::SolveOptions solve;
  std::optional<std::int64_t> steps;  // kernels
  std::optional<double> time;         // seconds
  std::optional<std::int64_t> memory_mib;
  std::optional<std::int64_t> width;
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> threads;
  std::string store;
  bool no_store = false;
  std::string pareto;
  std::string out;
  std::string log;
  bool quiet = false;
  bool json = false;
};

constexpr std::int64_t bytes_per_mib = std::int64_t{1} << 20;
constexpr std::int64_t usual_memory_mib = 2048;

// A signal handler can reach nothing but this.
std::atomic<bool> interrupted = false;

// Ctrl-C once: finish with what there is. Twice: the default, which ends the process.
void stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted.store(true, std::memory_order_relaxed); };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigaction(SIGINT, &action, nullptr);
}

walk::PlanFile plan_file(const Workload& workload, const oracle::Solution& solution,
                         const oracle::SolveOptions& options) {
  walk::PlanFile file{.workload = workload, .rules = options.rules, .order = options.order};
  file.kernels = solution.plan;
  file.latency = solution.latency;
  file.greedy_latency = solution.greedy_latency;
  file.naive_latency = solution.naive_latency;
  file.lower_bound = solution.lower_bound;
  file.proof = search::name(solution.proof);
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
  try {
    session.log.begin(workload.name);
    search::Monitor monitor(session.log.listener());
    oracle::SolveOptions options = session.options.solve;
    options.monitor = &monitor;
    answer.known = session.store.known(workload, options);
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
    session.store.offer(file, *answer.solution, options);
  } catch (const Error& error) {
    answer.error = error.what();
  }
  return answer;
}

std::vector<Answer> search_all(const std::vector<Workload>& workloads, Session& session) {
  const std::vector<std::string> paths =
      plan_paths(workloads, session.options.out, session.options.targets.targets);
  std::vector<Answer> answers;
  const Progress progress(workloads.size());
  for (std::size_t i = 0; i < workloads.size() && !interrupted; ++i) {
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

void set_engine(SearchOptions& options) {
  oracle::SolveOptions& solve = options.solve;
  if (options.width) solve.width = static_cast<std::size_t>(*options.width);
  if (options.seed) solve.seed = static_cast<std::uint64_t>(*options.seed);
  solve.threads = options.threads ? static_cast<int>(*options.threads) : tbb::info::default_concurrency();
  Budget& budget = solve.budget;
  if (options.steps) budget.steps = static_cast<std::uint64_t>(*options.steps);
  budget.bytes = static_cast<std::uint64_t>(options.memory_mib.value_or(usual_memory_mib) * bytes_per_mib);
  if (options.time) budget.wall_seconds = *options.time;
  budget.cancel = &interrupted;
}

std::string plans_line(const std::vector<Answer>& answers, const std::string& out) {
  const auto written =
      std::count_if(answers.begin(), answers.end(), [](const Answer& a) { return !a.plan_path.empty(); });
  return fmt::format("{} plan{} written to {}\n", written, written == 1 ? "" : "s", out);
}

int search(SearchOptions options) {
  if (options.solve.order == walk::Order::free && options.solve.rules != walk::Rules::physical)
    fail("--order: free does not exist under the rules {}; expected --rules physical with it",
         walk::name(options.solve.rules));
  if (!options.pareto.empty() && options.solve.price != walk::Price{})
    fail("--pareto: traffic excludes --price; expected one of the two");
  const std::vector<Workload> workloads = read_targets(options.targets);
  set_engine(options);
  stop_on_interrupt();
  if (!options.pareto.empty())
    return search_fronts(workloads, {.options = pareto_options(options),
                                     .paths = plan_paths(workloads, options.out, options.targets.targets),
                                     .json = options.json});
  Session session = {.options = options,
                     .log = SearchLog(!options.quiet, !options.log.empty()),
                     .store = SearchStore(options.store, !options.no_store)};
  const std::vector<Answer> answers = search_all(workloads, session);
  if (options.json) {
    write_stdout(search_json(answers, options.solve).dump(2, ' ', false, Json::error_handler_t::replace) +
                 '\n');
  } else {
    write_stdout(search_table(answers, options.solve));
    if (!options.out.empty()) write_stdout(plans_line(answers, options.out));
  }
  // The answer is out before anything can go wrong with the log.
  if (!options.log.empty()) write_file_atomically(options.log, session.log.text());
  int exit_code = exit_ok;
  for (const Answer& answer : answers) {
    if (!answer.error.empty()) print_error(answer.error);
    exit_code = std::max(exit_code, exit_code_of(answer));
  }
  if (answers.size() < workloads.size())
    print_note(fmt::format("interrupted; {} of {} graphs not searched", workloads.size() - answers.size(),
                           workloads.size()));
  return exit_code;
}

void add_budget_options(CLI::App& app, SearchOptions& options) {
  add_count(app, {"--steps", "N", "end the search after so many steps"}, {.min = 1}, options.steps);
  const auto set_time = [&options](const std::string& text) {
    options.time = parse_number("--time", text, 1e-6, 1e9);
  };
  name_value(app.add_option_function<std::string>("--time", set_time, "end the search after so many seconds"),
             "SECONDS");
  add_count(app, {"--memory", "MIB", "end the search when its states take so many MiB; default 2048"},
            {.min = 1, .max = std::numeric_limits<std::int64_t>::max() / bytes_per_mib}, options.memory_mib);
}

void add_engine_options(CLI::App& app, SearchOptions& options) {
  add_choice(app,
             {"--engine", "ENGINE",
              "auto (default): all of the next four; exact proves; beam, mcts and local\n"
              "find; greedy and naive are the baselines"},
             oracle::engine_names, options.solve.engine);
  add_count(app, {"--width", "N", "beam: states of a layer that are kept; default 16"},
            {.min = 1, .max = 1'000'000'000}, options.width);
  add_count(app, {"--seed", "N", "auto, mcts, local: of their random choices; default 0"}, {}, options.seed);
  add_count(app, {"--threads", "N", "default: one for each core"}, {.min = 1, .max = 1024}, options.threads);
}

// What is looked for instead of the fastest plan.
void add_objective_options(CLI::App& app, SearchOptions& options) {
  name_value(app.add_option_function<std::string>(
                 "--price", [&options](const std::string& text) { options.solve.price = parse_price(text); },
                 "minimise latency + traffic x bytes moved + launch x kernels +\n"
                 "residency x bytes resident after each kernel: traffic=0.1,launch=500"),
             "WEIGHTS");
  const auto set_pareto = [&options](const std::string& text) {
    if (text != "traffic") fail("--pareto: {} is unknown; expected traffic", quote(text));
    options.pareto = text;
  };
  name_value(app.add_option_function<std::string>(
                 "--pareto", set_pareto,
                 "traffic: every plan than which none is faster and moves fewer bytes;\n"
                 "budgets are per point, the engine is exact, --out numbers the plans"),
             "GOOD");
}

void add_output_options(CLI::App& app, SearchOptions& options) {
  name_value(app.add_option("--out", options.out, "write each plan to DIR/NAME.json"), "DIR");
  add_store_option(app, options.store);
  app.add_flag("--no-store", options.no_store, "neither read nor improve the best-known store");
  name_value(app.add_option("--log", options.log, "write incumbent and bound over time as JSON Lines"),
             "FILE");
  app.add_flag("--quiet", options.quiet, "no log on the terminal");
  app.add_flag("--json", options.json, "one JSON document instead of the table");
}

}  // namespace

void add_search(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("search", "Find the best schedule of graphs, and prove it");
  command.footer(footer);
  auto options = std::make_shared<SearchOptions>();
  add_target_options(command, options->targets);
  add_choice(command,
             {"--rules", "RULES",
              "seed: the public environment to the bit; seed-honest (default): only\n"
              "tensors that exist are retained; physical: what a machine could do"},
             walk::rules_names, options->solve.rules);
  add_choice(command, {"--order", "ORDER", "fixed (default); free: any topological order, physical only"},
             walk::order_names, options->solve.order);
  add_engine_options(command, *options);
  add_objective_options(command, *options);
  add_budget_options(command, *options);
  add_output_options(command, *options);
  command.callback([options, &exit_code] { exit_code = search(*options); });
}

}  // namespace fuselage::cli
