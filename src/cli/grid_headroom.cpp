#include "grid_headroom.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "cli.h"
#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/grid_solve.h"
#include "grid_report.h"
#include "report_cells.h"
#include "table.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::Engine;
using oracle::GridSolution;

constexpr std::array<Engine, 5> engines = {Engine::exact, Engine::beam, Engine::mcts, Engine::local,
                                           Engine::automatic};

// One problem under one rule set.
struct Row {
  std::string name;
  int ops = 0;
  grid::Rules rules = {};
  std::vector<GridSolution> solutions = {};  // by engine; empty: refused
  std::optional<GridScores> scores = {};     // of the best
  double best = std::numeric_limits<double>::infinity();
  double lower_bound = 0;  // the highest that an engine proved
  std::string error = {};

  bool proven() const { return meets(lower_bound, best); }
  double naive_latency() const { return scores ? scores->naive_latency : solutions.front().naive_latency; }
};

// `left`: rows still to be made, this one included.
Row row_of(const GridTarget& problem, const grid::Rules& rules, const SharedBudget& budget,
           std::size_t left) {
  Row row{.name = problem.name, .ops = problem.instance.op_count(), .rules = rules};
  try {
    check_grid_shapes(problem, rules);
  } catch (const Error& error) {
    row.error = error.what();
    return row;
  }
  try {
    for (std::size_t i = 0; i < engines.size(); ++i) {
      const GridSolution& solution = row.solutions.emplace_back(oracle::solve_grid(
          problem.instance,
          {.rules = rules, .engine = engines[i], .budget = budget.of(left * engines.size() - i)}));
      row.best = std::min(row.best, solution.latency);
      row.lower_bound = std::max(row.lower_bound, solution.lower_bound);
    }
    row.scores = scores_of(problem.instance, rules, row.best);
  } catch (const Error& error) {
    row.solutions.clear();
    row.error = fmt::format("{}: {}", problem.name, error.what());
  }
  return row;
}

std::vector<Row> rows_of(const GridHeadroom& command) {
  std::vector<Row> rows;
  std::vector<std::optional<grid::RuleSet>> sets;
  for (const AnyRules& one : command.family.rules) {
    const grid::RuleSet set = std::get<grid::RuleSet>(one);
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.emplace_back(set);
  }
  if (sets.empty()) sets.emplace_back(std::nullopt);
  for (const GridTarget& problem : command.problems)  // refused before any search
    for (const auto& set : sets) grid_rules_of(problem, command.family, set);
  const std::size_t total = command.problems.size() * sets.size();
  const Progress progress(total);
  for (const GridTarget& problem : command.problems)
    for (const auto& set : sets) {
      progress.show(rows.size(), problem.name);
      rows.push_back(
          row_of(problem, grid_rules_of(problem, command.family, set), command.budget, total - rows.size()));
    }
  return rows;
}

std::vector<std::string> cells_of(const Row& row, bool scored) {
  std::vector<std::string> cells = {row.name, grouped(std::int64_t{row.ops}), grid::rules_text(row.rules)};
  if (row.solutions.empty()) {
    cells.insert(cells.end(), engines.size() + 4 + (scored ? 1 : 0), "-");
    return cells;
  }
  cells.push_back(cycles(row.naive_latency()));
  cells.push_back(cycles(row.solutions.front().greedy_latency));
  for (const GridSolution& solution : row.solutions) cells.push_back(cycles(solution.latency));
  cells.push_back(cycles(row.lower_bound));
  cells.push_back(row.proven() ? "0" : gap_figure(row.best, row.lower_bound, 2));
  if (scored) cells.push_back(row.scores ? fmt::format("{:.3f}", row.scores->score.value_or(0)) : "-");
  return cells;
}

std::string table_of(const std::vector<Row>& rows) {
  const bool scored =
      std::any_of(rows.begin(), rows.end(), [](const Row& r) { return r.scores.has_value(); });
  std::vector<Column> columns = {
      {"problem", Align::left}, {"ops"}, {"rules", Align::left}, {"naive"}, {"greedy"}};
  for (const Engine engine : engines) columns.push_back({std::string(oracle::name(engine))});
  columns.push_back({"bound"});
  columns.push_back({"gap %"});
  if (scored) columns.push_back({"score"});
  Table table(std::move(columns));
  for (const Row& row : rows) table.add(cells_of(row, scored));
  std::string text = table.text() +
                     "\nLatency in time units of the plan that each engine finds within the budget, between "
                     "naive and\nthe lower bound; gap: (best - bound) / best, 0 only if it is proven.\n";
  if (scored) text += "score: of the best plan, by the environment's naive latency.\n";
  return text;
}

ordered_json json_of(const Row& row) {
  ordered_json json = {{"name", row.name},
                       {"ops", row.ops},
                       {"rules", name(row.rules.set)},
                       {"error", text_or_null(row.error)}};
  if (row.solutions.empty()) return json;
  json["naive_latency"] = row.naive_latency();
  json["greedy_latency"] = row.solutions.front().greedy_latency;
  json["engines"] = ordered_json::array();
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const GridSolution& solution = row.solutions[i];
    json["engines"].push_back({{"engine", oracle::name(engines[i])},
                               {"latency", solution.latency},
                               {"lower_bound", solution.lower_bound},
                               {"kernels", solution.plan.kernels.size()},
                               {"proof", search::name(solution.proof)},
                               {"stop", name(solution.stop)},
                               {"steps", solution.steps},
                               {"seconds", solution.seconds}});
  }
  json["latency"] = row.best;
  json["lower_bound"] = row.lower_bound;
  json["gap"] = search::gap(row.best, row.lower_bound);
  json["proven"] = row.proven();
  json["score"] = number_or_null(row.scores ? row.scores->score : std::nullopt);
  json["readme_score"] = number_or_null(row.scores ? row.scores->readme_score : std::nullopt);
  return json;
}

}  // namespace

int headroom_grid(const GridHeadroom& command) {
  const std::vector<Row> rows = rows_of(command);
  if (command.json) {
    ordered_json json = {{"compute", name(command.family.compute)},
                         {"co_consumers", command.family.co_consumers},
                         {"budget", budget_json(command.budget.whole())},
                         {"results", ordered_json::array()}};
    for (const Row& row : rows) json["results"].push_back(json_of(row));
    write_stdout(dump(json));
  } else {
    write_stdout(table_of(rows));
  }
  int exit_code = exit_ok;
  for (const Row& row : rows) {
    if (row.error.empty()) continue;
    print_error(row.error);
    exit_code = exit_bad_input;
  }
  return exit_code;
}

}  // namespace fuselage::cli
