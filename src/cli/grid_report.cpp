#include "grid_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report_cells.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::GridSolution;

// The columns that not every table needs.
struct Columns {
  bool rules = false;   // there are several rule sets
  bool scores = false;  // there is a problem of fusionops
};

Columns columns_of(const std::vector<GridAnswer>& answers) {
  std::set<std::string> rules;
  for (const GridAnswer& answer : answers) rules.insert(grid::rules_text(answer.rules));
  return {.rules = rules.size() > 1,
          .scores = std::any_of(answers.begin(), answers.end(),
                                [](const GridAnswer& a) { return a.scores.has_value(); })};
}

Table empty_table(const Columns& columns) {
  std::vector<Column> all = {{"problem", Align::left}, {"ops"}};
  if (columns.rules) all.push_back({"rules", Align::left});
  for (const char* name : {"naive", "greedy", "best", "bound", "known %"}) all.push_back({name});
  if (columns.scores)
    for (const char* name : {"score", "README"}) all.push_back({name});
  all.push_back({"kernels"});
  all.push_back({"proof", Align::left});
  all.push_back({"steps"});
  all.push_back({"time"});
  return Table(std::move(all));
}

std::string score_cell(const std::optional<double>& score) {
  return score ? fmt::format("{:.3f}", *score) : "-";
}

std::vector<std::string> row_of(const GridAnswer& answer, const Columns& columns) {
  std::vector<std::string> row = {answer.name, grouped(std::int64_t{answer.ops})};
  const auto add = [&](std::string cell) { row.push_back(std::move(cell)); };
  if (columns.rules) add(grid::rules_text(answer.rules));
  const GridSolution* solution = answer.solution ? &*answer.solution : nullptr;
  add(solution ? cycles(answer.naive_latency()) : "-");
  add(solution ? cycles(solution->greedy_latency) : "-");
  add(solution ? cycles(solution->latency) : "-");
  add(solution ? cycles(solution->lower_bound) : "-");
  add(solution ? known_words(solution->latency, answer.known) : "-");
  if (columns.scores) {
    add(answer.scores ? score_cell(answer.scores->score) : "-");
    add(answer.scores ? score_cell(answer.scores->readme_score) : "-");
  }
  add(solution ? grouped(std::uint64_t{solution->plan.kernels.size()}) : "-");
  add(solution ? proof_words(solution->proof, solution->gap()) : "refused");
  add(solution ? grouped(solution->steps) : "-");
  add(solution ? duration(solution->seconds) : "-");
  return row;
}

// What the table says in full where a budget ended before there was a proof.
std::string open_line(const GridAnswer& answer) {
  const GridSolution& solution = *answer.solution;
  return fmt::format(
      "{}: not proven, ended by {} at {} steps: best {}, lower bound {} (no plan is below it)\n", answer.name,
      ended_by(solution.stop), grouped(solution.steps), cycles(solution.latency),
      cycles(solution.lower_bound));
}

bool is_open(const GridAnswer& answer) {
  return answer.solution && answer.solution->stop != StopReason::exhausted &&
         answer.solution->proof != search::Proof::optimal;
}

ordered_json answer_json(const GridAnswer& answer) {
  ordered_json json = {{"name", answer.name},
                       {"ops", answer.ops},
                       {"rules", name(answer.rules.set)},
                       {"error", text_or_null(answer.error)}};
  if (!answer.solution) return json;
  const GridSolution& solution = *answer.solution;
  json["latency"] = solution.latency;
  json["lower_bound"] = solution.lower_bound;
  json["gap"] = solution.gap();
  json["greedy_latency"] = solution.greedy_latency;
  json["naive_latency"] = answer.naive_latency();
  json["score"] = number_or_null(answer.scores ? answer.scores->score : std::nullopt);
  json["readme_score"] = number_or_null(answer.scores ? answer.scores->readme_score : std::nullopt);
  json["best_known"] = number_or_null(answer.known);
  json["kernels"] = solution.plan.kernels.size();
  json["found_by"] = solution.engine;
  json["proof"] = search::name(solution.proof);
  json["stop"] = name(solution.stop);
  json["steps"] = solution.steps;
  json["states"] = solution.states;
  json["seconds"] = solution.seconds;
  json["plan"] = text_or_null(answer.plan_path);
  return json;
}

}  // namespace

double GridAnswer::naive_latency() const {
  if (scores) return scores->naive_latency;
  return solution ? solution->naive_latency : 0;
}

std::optional<GridScores> scores_of(const grid::Instance& instance, const grid::Rules& rules,
                                    const std::optional<double>& latency) {
  if (rules.set == grid::RuleSet::mlsys) return std::nullopt;
  GridScores scores{.naive_latency = grid::fusionops_naive_latency(instance)};
  if (!latency) return scores;
  const grid::FusionopsTotals totals{.naive_latency = scores.naive_latency,
                                     .total_latency = *latency,
                                     .covered_ops = instance.op_count(),
                                     .ops = instance.op_count(),
                                     .complete = true};
  scores.score = grid::fusionops_score(totals);
  scores.readme_score = grid::fusionops_readme_score(totals);
  return scores;
}

std::string grid_table(const std::vector<GridAnswer>& answers, const oracle::GridSolveOptions& options) {
  const Columns columns = columns_of(answers);
  Table table = empty_table(columns);
  for (const GridAnswer& answer : answers) table.add(row_of(answer, columns));
  std::string text = table.text() + '\n';
  for (const GridAnswer& answer : answers)
    if (is_open(answer)) text += open_line(answer);
  const std::string rules = columns.rules || answers.empty()
                                ? ""
                                : fmt::format("rules {}, ", grid::rules_text(answers.front().rules));
  text += fmt::format(
      "naive, greedy, best, bound: latency in time units; {}engine {}.\n"
      "known: how far above the best plan in the store, in percent (below 0: a new best).\n",
      rules, oracle::name(options.engine));
  if (columns.scores)
    text +=
        "naive is the environment's; score: max(0, 2 x naive / (naive + best) - 1);\n"
        "README: (naive - best) / naive, which is what the environment's README calls the score.\n";
  return text;
}

ordered_json grid_json(const std::vector<GridAnswer>& answers, const oracle::GridSolveOptions& options) {
  ordered_json results = ordered_json::array();
  for (const GridAnswer& answer : answers) results.push_back(answer_json(answer));
  return {{"compute", name(options.rules.compute)},
          {"co_consumers", options.rules.co_consumers},
          {"engine", oracle::name(options.engine)},
          {"seed", options.seed},
          {"threads", options.threads},
          {"budget", budget_json(options.budget)},
          {"results", std::move(results)}};
}

}  // namespace fuselage::cli
