#include <fmt/format.h>

#include <algorithm>

#include "fuselage/core/json.h"
#include "reports.h"

namespace fuselage::experiments {
namespace {

using learn::Estimate;
using learn::RankMetric;

const std::string recurrent = "recurrent";

void add_rows(const Standing& standing, Table& rows) {
  for (const std::string& ranker : standing.names) {
    const Judged& judged = standing.of(ranker);
    for (std::size_t m = 0; m < learn::rank_metric_names.size(); ++m) {
      std::vector<std::string> cells = {standing.set,
                                        name(standing.filter),
                                        ranker,
                                        std::string(learn::rank_metric_names[m]),
                                        std::to_string(standing.graphs),
                                        fixed(judged.mean[m].value, 6),
                                        fixed(judged.mean[m].low, 6),
                                        fixed(judged.mean[m].high, 6)};
      std::string seeds;
      for (const auto& of_seed : judged.of_seeds) seeds += (seeds.empty() ? "" : " ") + fixed(of_seed[m], 6);
      cells.push_back(seeds);
      rows.add(std::move(cells));
    }
  }
}

// The recurrent ranker minus each other one, on the same graphs.
Titled differences(const std::vector<Standing>& standings) {
  std::vector<std::string> columns = {"recurrent minus"};
  for (const Standing& standing : standings)
    columns.push_back(fmt::format("{}, {}", standing.set, name(standing.filter)));
  Table table(std::move(columns));
  for (const std::string& other : standings.front().names) {
    if (other == recurrent) continue;
    std::vector<std::string> cells = {other};
    for (const Standing& standing : standings) {
      const auto difference =
          learn::bootstrap_difference(standing.of(recurrent).groups, standing.of(other).groups);
      cells.push_back(cell(difference[static_cast<std::size_t>(RankMetric::pairwise)]));
    }
    table.add(std::move(cells));
  }
  return {"Pairwise accuracy: paired differences with 95 % intervals over graphs", std::move(table)};
}

class Bars {
 public:
  void least(const std::string& what, double asked, double measured) {
    add(what, ">= ", asked, measured, measured >= asked);
  }
  void most(const std::string& what, double asked, double measured) {
    add(what, "<= ", asked, measured, measured <= asked);
  }
  Table table() const { return table_; }

 private:
  void add(const std::string& what, const std::string& sign, double asked, double measured, bool met) {
    table_.add({what, sign + fmt::format("{:g}", asked), fixed(measured, 4), yes_no(met)});
  }
  Table table_ = Table({"figure, recurrent", "bar", "measured", "met"});
};

const Standing* find(const std::vector<Standing>& standings, const std::string& set) {
  for (const Standing& standing : standings)
    if (standing.set == set && standing.filter == Filter::all) return &standing;
  return nullptr;
}

// The lower end of the paired interval against whichever of the two bags is better on the set.
double lead(const Standing& standing) {
  std::string bag = "action bag";
  const std::string other = "action bag, network";
  if (standing.of(other).value(RankMetric::pairwise) > standing.of(bag).value(RankMetric::pairwise))
    bag = other;
  const auto difference = learn::bootstrap_difference(standing.of(recurrent).groups, standing.of(bag).groups);
  return difference[static_cast<std::size_t>(RankMetric::pairwise)].low;
}

Table bars_of(const std::vector<Standing>& standings) {
  Bars bars;
  if (const Standing* held_out = find(standings, "mixed, held out")) {
    const Judged& judged = held_out->of(recurrent);
    bars.least("mixed: pairwise", 0.98, judged.value(RankMetric::pairwise));
    bars.least("mixed: tau", 0.95, judged.value(RankMetric::tau));
    bars.least("mixed: top-1", 0.998, judged.value(RankMetric::top_1));
    bars.least("mixed: lead over the better action bag, lower end", 0.03, lead(*held_out));
  }
  if (const Standing* larger = find(standings, "mixed, larger")) {
    bars.least("larger: pairwise", 0.975, larger->of(recurrent).value(RankMetric::pairwise));
    bars.least("larger: lead over the better action bag, lower end", 0.03, lead(*larger));
  }
  if (const Standing* bound = find(standings, "memory-bound, held out")) {
    bars.least("memory-bound: pairwise", 0.96, bound->of(recurrent).value(RankMetric::pairwise));
    bars.most("memory-bound: regret of the first", 0.025, bound->of(recurrent).value(RankMetric::regret));
    bars.least("memory-bound: lead over the better action bag, lower end", 0.03, lead(*bound));
  }
  return bars.table();
}

}  // namespace

Report ranking_report(const std::vector<Standing>& standings) {
  Report report = {
      .rows = Table({"set", "schedules", "ranker", "metric", "graphs", "mean", "low", "high", "seeds"}),
      .summary = {}};
  for (const Standing& standing : standings) add_rows(standing, report.rows);
  const auto has = [&](const std::string& name) {
    const auto& names = standings.front().names;
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has(recurrent) && has("action bag") && has("action bag, network"))
    report.summary.push_back({"Bars", bars_of(standings)});
  for (const Standing& standing : standings) report.summary.push_back(table_of(standing));
  if (has(recurrent)) report.summary.push_back(differences(standings));
  return report;
}

}  // namespace fuselage::experiments
