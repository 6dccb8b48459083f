#include "tune_report.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "fuselage/core/cost.h"
#include "fuselage/oracle/overflow.h"
#include "report_cells.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* words_of_roofline =
    "greedy, best: latency in cycles, rules seed-honest; improvement: (greedy - best) / greedy;\n"
    "known: how far above the best plan in the store; gap: above what is proven to be the least\n"
    "latency there is; found at: the trial that found the plan.\n";
constexpr const char* words_of_evaluator =
    "first, best: as the evaluator measures the first plan tried and the best one;\n"
    "improvement: (first - best) / first; found at: the trial that found the plan.\n";

std::string_view name(oracle::TuneStop stop) {
  switch (stop) {
    case oracle::TuneStop::exhausted:
      return "exhausted";
    case oracle::TuneStop::cancelled:
      return "cancelled";
    case oracle::TuneStop::trials:
      break;
  }
  return "trials";
}

// The latency that improvement is measured from.
std::optional<double> reference(const TuneAnswer& answer, bool external) {
  if (!external) return answer.greedy;
  return answer.tuned && !answer.tuned->trials.empty() ? answer.tuned->trials[0].measured.latency
                                                       : std::nullopt;
}

// Of cycles two decimals; nobody knows what an evaluator measures.
std::string latency_cell(const std::optional<double>& latency, bool external) {
  return external && latency ? fmt::format("{:.6g}", *latency) : cycles(latency);
}

std::string gap_cell(const TuneAnswer& answer) {
  if (!answer.found() || !answer.lower_bound) return "-";
  const double gap = answer.latency() == *answer.lower_bound ? 0 : answer.latency() / *answer.lower_bound - 1;
  if (!std::isfinite(gap)) return "-";
  return meets(*answer.lower_bound, answer.latency())
             ? "optimal"
             : fmt::format("{}{}", answer.is_proven ? "" : "< ", gap_percent(gap));
}

std::vector<std::string> row_of(const TuneAnswer& answer, bool external) {
  std::vector<std::string> row = {answer.name, grouped(std::int64_t{answer.ops})};
  const auto add = [&](std::string cell) { row.push_back(std::move(cell)); };
  const std::optional<double> from = reference(answer, external);
  const std::optional<double> best = answer.found() ? std::optional(answer.latency()) : std::nullopt;
  add(latency_cell(from, external));
  add(latency_cell(best, external));
  add(from && best ? percent(*from == *best ? 0 : (*from - *best) / *from) : "-");
  if (!external) {
    add(best ? known_words(*best, answer.known) : "-");
    add(gap_cell(answer));
  }
  add(answer.tuned ? grouped(static_cast<std::uint64_t>(answer.tuned->trials.size())) : "refused");
  add(answer.tuned ? grouped(std::int64_t{answer.tuned->failures()}) : "-");
  add(best ? grouped(answer.tuned->trials[*answer.tuned->best].number) : "-");
  add(best ? grouped(static_cast<std::uint64_t>(answer.tuned->trials[*answer.tuned->best].plan.size()))
           : "-");
  add(duration(answer.seconds));
  return row;
}

// The trials at which the best so far became better.
ordered_json curve_of(const oracle::Tuned& tuned) {
  ordered_json curve = ordered_json::array();
  double least = std::numeric_limits<double>::infinity();
  for (const oracle::Trial& trial : tuned.trials) {
    if (!(trial.latency() < least)) continue;
    least = trial.latency();
    curve.push_back({{"trial", trial.number}, {"latency", least}});
  }
  return curve;
}

ordered_json answer_json(const TuneAnswer& answer, bool external) {
  ordered_json json = {{"name", answer.name}, {"ops", answer.ops}, {"error", text_or_null(answer.error)}};
  if (!answer.tuned) return json;
  const oracle::Tuned& tuned = *answer.tuned;
  json["found"] = answer.found();
  json["latency"] = answer.found() ? ordered_json(answer.latency()) : ordered_json();
  json["found_at"] = answer.found() ? ordered_json(tuned.trials[*tuned.best].number) : ordered_json();
  json["kernels"] = answer.found() ? ordered_json(tuned.trials[*tuned.best].plan.size()) : ordered_json();
  json["overflows"] = answer.found() ? ordered_json(answer.overflows) : ordered_json();
  json["trials"] = tuned.trials.size();
  json["failures"] = tuned.failures();
  json["recalled"] = answer.recalled;
  json["stop"] = name(tuned.stop);
  if (external) {
    json["strays"] = answer.strays;
  } else {
    json["greedy_latency"] = number_or_null(answer.greedy);
    json["best_known"] = number_or_null(answer.known);
    json["lower_bound"] = number_or_null(answer.lower_bound);
    json["bound_is_optimum"] = answer.is_proven;
  }
  json["curve"] = curve_of(tuned);
  json["seconds"] = answer.seconds;
  json["plan"] = text_or_null(answer.plan_path);
  return json;
}

}  // namespace

std::string tune_table(const std::vector<TuneAnswer>& answers, const TuneHeading& heading) {
  std::vector<Column> columns = {
      {"task", Align::left}, {"ops"}, {heading.external ? "first" : "greedy"}, {"best"}, {"improvement %"}};
  if (!heading.external) columns.insert(columns.end(), {{"known %"}, {"gap"}});
  for (const char* column : {"trials", "failed", "found at", "kernels", "time"}) columns.push_back({column});
  Table table(columns);
  for (const TuneAnswer& answer : answers) table.add(row_of(answer, heading.external));
  std::string text = table.text() + "\n" + (heading.external ? words_of_evaluator : words_of_roofline);
  bool overflowing = false;
  for (const TuneAnswer& answer : answers) {
    if (answer.overflows == 0) continue;
    text += fmt::format("{}: {}\n", answer.name, oracle::overflow_words(answer.overflows));
    overflowing = true;
  }
  return overflowing ? text + oracle::overflow_meaning() + ".\n" : text;
}

ordered_json tune_json(const std::vector<TuneAnswer>& answers, const TuneHeading& heading) {
  ordered_json json = heading.settings;
  json["results"] = ordered_json::array();
  for (const TuneAnswer& answer : answers) json["results"].push_back(answer_json(answer, heading.external));
  return json;
}

}  // namespace fuselage::cli
