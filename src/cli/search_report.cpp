#include "search_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/oracle/overflow.h"
#include "fuselage/search/outcome.h"
#include "report_cells.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::Solution;

constexpr std::string_view header_of_price = "objective";

std::vector<Column> columns_of(bool priced) {
  std::vector<Column> columns = {{"task", Align::left}, {"ops"}, {"naive"}, {"greedy"}, {"best"}};
  if (priced) columns.push_back({std::string(header_of_price)});
  for (const char* name : {"improvement %", "score", "known %", "kernels"}) columns.push_back({name});
  columns.push_back({"proof", Align::left});
  columns.push_back({"states"});
  columns.push_back({"time"});
  return columns;
}

std::string known_cell(const Answer& answer) {
  if (!answer.solution || !answer.solution->found) return "-";
  return known_words(answer.solution->cost, answer.known);
}

std::string proof_cell(const Solution& solution) {
  if (!solution.found) return solution.infeasible ? "infeasible" : "no plan";
  const std::string words = proof_words(solution.proof, solution.gap());
  return solution.overflows == 0 ? words : words + ", " + oracle::overflow_words(solution.overflows);
}

std::vector<std::string> row_of(const Answer& answer, bool priced) {
  std::vector<std::string> row = {answer.name, grouped(std::int64_t{answer.ops})};
  const auto add = [&](std::string cell) { row.push_back(std::move(cell)); };
  if (!answer.solution) {
    for (const char* cell : {"-", "-", "-"}) add(cell);
    if (priced) add("-");
    for (const char* cell : {"-", "-", "-", "-", "refused", "-", "-"}) add(cell);
    return row;
  }
  const Solution& solution = *answer.solution;
  const auto improvement = solution.improvement();
  const auto score = solution.score();
  add(cycles(solution.naive_latency));
  add(cycles(solution.greedy_latency));
  add(solution.found ? cycles(solution.latency) : "-");
  if (priced) add(solution.found ? cycles(solution.cost) : "-");
  add(improvement ? percent(*improvement) : "-");
  add(score ? fmt::format("{:.3f}", *score) : "-");
  add(known_cell(answer));
  add(solution.found ? grouped(static_cast<std::uint64_t>(solution.plan.size())) : "-");
  add(proof_cell(solution));
  add(grouped(solution.states));
  add(duration(answer.seconds));
  return row;
}

// What the table says in full where a budget ended before there was a proof.
std::string open_line(const Answer& answer) {
  const Solution& solution = *answer.solution;
  return fmt::format(
      "{}: not proven, ended by {} at {} steps: best {} cycles, lower bound {} (no plan is below it)\n",
      answer.name, ended_by(solution.stop), grouped(solution.steps), cycles(solution.cost),
      cycles(solution.lower_bound));
}

bool is_open(const Answer& answer) {
  return answer.solution && answer.solution->found && answer.solution->stop != StopReason::exhausted &&
         answer.solution->proof != search::Proof::optimal;
}

bool is_overflowing(const Answer& answer) {
  return answer.solution && answer.solution->found && answer.solution->overflows > 0;
}

ordered_json infeasible_json(const Solution& solution) {
  if (!solution.infeasible) return nullptr;
  return {{"node", solution.infeasible->node},
          {"capacity", solution.infeasible->capacity},
          {"smallest_working_set", solution.infeasible->smallest_working_set}};
}

ordered_json answer_json(const Answer& answer) {
  ordered_json json = {{"name", answer.name}, {"ops", answer.ops}, {"error", text_or_null(answer.error)}};
  if (!answer.solution) return json;
  const Solution& solution = *answer.solution;
  const auto if_found = [&](ordered_json value) {
    return solution.found ? std::move(value) : ordered_json(nullptr);
  };
  json["found"] = solution.found;
  json["infeasible"] = infeasible_json(solution);
  json["latency"] = if_found(solution.latency);
  json["objective"] = if_found(solution.cost);
  json["bytes_moved"] = if_found(solution.charges.bytes_moved);
  json["launches"] = if_found(solution.charges.launches);
  json["byte_kernels"] = if_found(solution.charges.byte_kernels);
  json["lower_bound"] = number_or_null(solution.lower_bound);
  json["gap"] = if_found(solution.gap());
  json["greedy_latency"] = number_or_null(solution.greedy_latency);
  json["naive_latency"] = number_or_null(solution.naive_latency);
  json["improvement"] = number_or_null(solution.improvement());
  json["score"] = number_or_null(solution.score());
  json["best_known"] = number_or_null(answer.known);
  json["kernels"] = if_found(solution.plan.size());
  json["overflows"] = if_found(solution.overflows);
  json["found_by"] = text_or_null(solution.found ? solution.engine : "");
  json["proof"] = search::name(solution.proof);
  json["stop"] = name(solution.stop);
  json["steps"] = solution.steps;
  json["states"] = solution.states;
  json["seconds"] = answer.seconds;
  json["plan"] = text_or_null(answer.plan_path);
  return json;
}

}  // namespace

std::string search_table(const std::vector<Answer>& answers, const oracle::SolveOptions& options) {
  const bool priced = options.price != walk::Price{};
  Table table(columns_of(priced));
  for (const Answer& answer : answers) table.add(row_of(answer, priced));
  std::string text = table.text() + '\n';
  for (const Answer& answer : answers)
    if (is_open(answer)) text += open_line(answer);
  text += fmt::format(
      "naive, greedy, best: latency in cycles; rules {}, order {}, engine {}.\n"
      "improvement: (greedy - best) / greedy; score: improvement / 20%, within -1 and 1;\n"
      "known: how far above the best plan in the store (below 0: a new best).\n",
      walk::name(options.rules), walk::name(options.order), oracle::name(options.engine));
  if (std::any_of(answers.begin(), answers.end(), is_overflowing)) text += oracle::overflow_meaning() + ".\n";
  if (priced)
    text += fmt::format(
        "objective, and its bound: latency + {} x bytes moved + {} x kernels + {} x byte-kernels.\n",
        options.price.traffic, options.price.launch, options.price.residency);
  return text;
}

ordered_json search_json(const std::vector<Answer>& answers, const oracle::SolveOptions& options) {
  ordered_json results = ordered_json::array();
  for (const Answer& answer : answers) results.push_back(answer_json(answer));
  return {{"rules", walk::name(options.rules)},
          {"order", walk::name(options.order)},
          {"price",
           {{"traffic", options.price.traffic},
            {"launch", options.price.launch},
            {"residency", options.price.residency}}},
          {"engine", oracle::name(options.engine)},
          {"seed", options.seed},
          {"threads", options.threads},
          {"budget", budget_json(options.budget)},
          {"results", std::move(results)}};
}

}  // namespace fuselage::cli
