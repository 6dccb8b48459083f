#include "headroom_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/oracle/overflow.h"
#include "fuselage/search/outcome.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using oracle::Decision;
using oracle::Headroom;
using oracle::Solution;

constexpr const char* none = "-";

std::string share(const std::optional<double>& fraction) {
  return fraction ? percent(*fraction) : none;
}
std::string score_text(const std::optional<double>& score) {
  return score ? fmt::format("{:.3f}", *score) : none;
}

bool is_proven(const Solution& solution) {
  return solution.proof == search::Proof::optimal;
}

// Latency, improvement and score, for each rule set.
void add_figures(std::vector<std::string>& cells, const Headroom& headroom,
                 const std::optional<double>& latency, const std::string& text) {
  cells.push_back(text);
  cells.push_back(latency ? share(headroom.improvement(*latency)) : none);
  cells.push_back(latency ? score_text(headroom.score(*latency)) : none);
}

struct Row {
  std::string name;
  std::optional<double> (*latency)(const Headroom&);
  std::string (*text)(const Headroom&);
};

const std::vector<Row>& yardsticks() {
  static const std::vector<Row> rows = {
      {"naive", [](const Headroom& h) { return h.optimum.naive_latency; }, nullptr},
      {"greedy", [](const Headroom& h) { return h.optimum.greedy_latency; }, nullptr}};
  return rows;
}

const std::vector<Row>& limits() {
  static const std::vector<Row> rows = {
      {"optimum",
       [](const Headroom& h) { return h.optimum.found ? std::optional(h.optimum.latency) : std::nullopt; },
       [](const Headroom& h) { return optimum_cell(h.optimum); }},
      {"lower bound",
       [](const Headroom& h) {
         return h.optimum.found ? std::optional(h.optimum.lower_bound) : std::nullopt;
       },
       nullptr},
      {"bound before search",
       [](const Headroom& h) { return h.optimum.found ? std::optional(h.root_bound) : std::nullopt; },
       nullptr}};
  return rows;
}

void add_rows(Table& table, const HeadroomAnswer& answer, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    std::vector<std::string> cells = {row.name};
    for (const Headroom& headroom : answer.headrooms) {
      const auto latency = row.latency(headroom);
      add_figures(cells, headroom, latency, row.text ? row.text(headroom) : cycles(latency));
    }
    table.add(std::move(cells));
  }
}

std::string schedules_table(const HeadroomAnswer& answer) {
  std::vector<Column> columns = {{"schedule", Align::left}};
  for (const Headroom& headroom : answer.headrooms)
    for (const char* header : {"", "gain %", "score"})
      columns.push_back({*header == '\0' ? std::string(name(headroom.rules)) : header});
  Table table(std::move(columns));
  add_rows(table, answer, yardsticks());
  for (std::size_t i = 0; i < oracle::policies().size(); ++i) {
    std::vector<std::string> cells = {std::string(oracle::policies()[i].name)};
    for (const Headroom& headroom : answer.headrooms)
      add_figures(cells, headroom, headroom.policies[i].latency, cycles(headroom.policies[i].latency));
    table.add(std::move(cells));
  }
  add_rows(table, answer, limits());
  return table.text();
}

std::string decisions_table(const HeadroomAnswer& answer) {
  std::vector<Column> columns = {{"optimum with", Align::left}};
  for (const Headroom& headroom : answer.headrooms) {
    columns.push_back({std::string(name(headroom.rules))});
    columns.push_back({"loss %"});
  }
  Table table(std::move(columns));
  for (std::string_view decision : oracle::decision_names) {
    std::vector<std::string> cells = {std::string(decision)};
    for (const Headroom& headroom : answer.headrooms) {
      const Decision* one = headroom.decision(decision);
      cells.push_back(one ? optimum_cell(one->solution) : none);
      cells.push_back(one ? share(headroom.loss(*one)) : none);
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string note(std::string_view what, const Headroom& headroom, const Solution& solution) {
  if (is_proven(solution)) return {};
  std::string why;
  if (!solution.found)
    why = solution.infeasible
              ? fmt::format("no schedule exists (node {} needs {} B, the capacity is {} B)",
                            solution.infeasible->node, grouped(solution.infeasible->smallest_working_set),
                            grouped(solution.infeasible->capacity))
              : "no plan within the budget";
  else
    why = fmt::format("* not proven, at least {} cycles", cycles(solution.lower_bound));
  return fmt::format("{}, {}: {}\n", what, name(headroom.rules), why);
}

bool is_overflowing(const Solution& solution) {
  return solution.found && solution.overflows > 0;
}

std::string overflow_note(std::string_view what, const Headroom& headroom, const Solution& solution) {
  if (!is_overflowing(solution)) return {};
  return fmt::format("{}, {}: {}\n", what, name(headroom.rules), oracle::overflow_words(solution.overflows));
}

bool is_overflowing(const HeadroomAnswer& answer) {
  return std::any_of(answer.headrooms.begin(), answer.headrooms.end(), [](const Headroom& headroom) {
    return is_overflowing(headroom.optimum) ||
           std::any_of(headroom.decisions.begin(), headroom.decisions.end(),
                       [](const Decision& decision) { return is_overflowing(decision.solution); });
  });
}

// What the dashes and the asterisks stand for.
std::string notes(const HeadroomAnswer& answer) {
  std::string text;
  for (const Headroom& headroom : answer.headrooms) {
    for (const oracle::Played& played : headroom.policies)
      if (!played.latency)
        text += fmt::format("{}, {}: illegal, {}\n", played.policy.name, name(headroom.rules), played.fault);
    if (!headroom.optimum.greedy_latency)
      text += fmt::format("greedy, {}: gets stuck\n", name(headroom.rules));
    text += note("optimum", headroom, headroom.optimum);
    text += overflow_note("optimum", headroom, headroom.optimum);
    for (const Decision& decision : headroom.decisions)
      text += note(decision.name, headroom, decision.solution) +
              overflow_note(decision.name, headroom, decision.solution);
  }
  return text;
}

std::string heading(const HeadroomAnswer& answer) {
  const Hardware& hardware = answer.hardware;
  return fmt::format(
      "{}: {} ops; {} B of fast memory, {} B per cycle, {} cycles a launch, up to {} nodes a kernel\n\n",
      answer.name, grouped(std::int64_t{answer.ops}), grouped(hardware.fast_mem_capacity),
      hardware.slow_mem_bandwidth, hardware.kernel_launch_cost, hardware.max_fusion_depth);
}

}  // namespace

std::string headroom_table(const std::vector<HeadroomAnswer>& answers) {
  std::string text;
  std::vector<HeadroomAnswer> analysed;
  std::copy_if(answers.begin(), answers.end(), std::back_inserter(analysed),
               [](const HeadroomAnswer& answer) { return answer.error.empty(); });
  if (analysed.empty()) return text;
  for (const HeadroomAnswer& answer : analysed) {
    text += heading(answer) + schedules_table(answer) + '\n' + decisions_table(answer);
    const std::string fine_print = notes(answer);
    text += (fine_print.empty() ? "" : "\n") + fine_print + '\n';
  }
  if (std::any_of(analysed.begin(), analysed.end(),
                  [](const HeadroomAnswer& answer) { return is_overflowing(answer); }))
    text += oracle::overflow_meaning() + ".\n\n";
  return text + headroom_summary(analysed);
}

}  // namespace fuselage::cli
