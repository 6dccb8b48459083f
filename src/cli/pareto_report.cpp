#include "pareto_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fuselage/oracle/overflow.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::ParetoFront;
using oracle::ParetoPoint;

const std::vector<Column> columns = {{"task", Align::left}, {"ops"},     {"latency"},
                                     {"bytes moved"},       {"kernels"}, {"proof", Align::left},
                                     {"hull", Align::left}};

double gap_of(const ParetoPoint& point) {
  return search::gap(point.latency, point.lower_bound);
}

std::string proof_cell(const ParetoPoint& point) {
  const bool space = point.proof == search::Proof::optimal_in_declared_space;
  const std::string words =
      point.proof == search::Proof::optimal
          ? "optimal"
          : fmt::format("{}, gap {}", space ? "best of space" : "not proven", gap_percent(gap_of(point)));
  return point.overflows == 0 ? words : words + ", " + oracle::overflow_words(point.overflows);
}

bool is_overflowing(const FrontAnswer& answer) {
  return answer.front && std::any_of(answer.front->points.begin(), answer.front->points.end(),
                                     [](const ParetoPoint& point) { return point.overflows > 0; });
}

void add_rows(Table& table, const FrontAnswer& answer) {
  const std::string ops = grouped(std::int64_t{answer.ops});
  if (!answer.front || answer.front->points.empty()) {
    const bool infeasible = answer.front && answer.front->proof != search::Proof::none;
    table.add({answer.name, ops, "-", "-", "-",
               !answer.front ? "refused"
               : infeasible  ? "infeasible"
                             : "no plan",
               "-"});
    return;
  }
  const std::vector<bool> hull = oracle::on_convex_hull(answer.front->points);
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const ParetoPoint& point = answer.front->points[i];
    table.add({i == 0 ? answer.name : "", i == 0 ? ops : "", cycles(point.latency),
               grouped(point.bytes_moved), grouped(static_cast<std::uint64_t>(point.plan.size())),
               proof_cell(point), hull[i] ? "yes" : "no"});
  }
}

ordered_json point_json(const ParetoPoint& point, bool on_hull) {
  ordered_json plan = ordered_json::array();
  for (const walk::PlanKernel& kernel : point.plan)
    plan.push_back({{"nodes", kernel.nodes}, {"tile", kernel.tile}, {"retain", kernel.retain}});
  return {{"latency", point.latency},
          {"bytes_moved", point.bytes_moved},
          {"kernels", point.plan.size()},
          {"overflows", point.overflows},
          {"proof", search::name(point.proof)},
          {"lower_bound", point.lower_bound},
          {"gap", gap_of(point)},
          {"on_convex_hull", on_hull},
          {"plan", std::move(plan)}};
}

ordered_json answer_json(const FrontAnswer& answer) {
  ordered_json json = {{"name", answer.name}, {"ops", answer.ops}};
  json["error"] = answer.error.empty() ? ordered_json(nullptr) : ordered_json(answer.error);
  if (!answer.front) return json;
  const ParetoFront& front = *answer.front;
  json["proof"] = search::name(front.proof);
  json["stop"] = name(front.stop);
  json["steps"] = front.steps;
  json["states"] = front.states;
  json["seconds"] = answer.seconds;
  const std::vector<bool> hull = oracle::on_convex_hull(front.points);
  json["points"] = ordered_json::array();
  for (std::size_t i = 0; i < hull.size(); ++i)
    json["points"].push_back(point_json(front.points[i], hull[i]));
  return json;
}

ordered_json limit_or_null(std::uint64_t limit) {
  return limit == std::numeric_limits<std::uint64_t>::max() ? ordered_json(nullptr) : ordered_json(limit);
}

std::string open_line(const FrontAnswer& answer) {
  return fmt::format(
      "{}: the front is not proven{}: points may be missing or not the fastest for their traffic\n",
      answer.name,
      answer.front->stop == StopReason::exhausted ? ""
                                                  : fmt::format(" (budget: {})", name(answer.front->stop)));
}

}  // namespace

std::string pareto_table(const std::vector<FrontAnswer>& answers, const oracle::ParetoOptions& options) {
  Table table(columns);
  for (const FrontAnswer& answer : answers) add_rows(table, answer);
  std::string text = table.text() + '\n';
  for (const FrontAnswer& answer : answers)
    if (answer.front && answer.front->proof != search::Proof::optimal) text += open_line(answer);
  text += fmt::format(
      "A row a plan: none is both faster and moves fewer bytes. Latency in cycles; rules {}, order {}.\n"
      "hull: on the convex hull; the others no weighted sum (--price traffic=...) finds.\n",
      walk::name(options.rules), walk::name(options.order));
  if (std::any_of(answers.begin(), answers.end(), is_overflowing)) text += oracle::overflow_meaning() + ".\n";
  return text;
}

ordered_json pareto_json(const std::vector<FrontAnswer>& answers, const oracle::ParetoOptions& options) {
  ordered_json results = ordered_json::array();
  for (const FrontAnswer& answer : answers) results.push_back(answer_json(answer));
  const double seconds = options.budget.wall_seconds;
  return {{"rules", walk::name(options.rules)},
          {"order", walk::name(options.order)},
          {"budget",
           {{"steps", limit_or_null(options.budget.steps)},
            {"bytes", limit_or_null(options.budget.bytes)},
            {"seconds", std::isfinite(seconds) ? ordered_json(seconds) : ordered_json(nullptr)}}},
          {"results", std::move(results)}};
}

}  // namespace fuselage::cli
