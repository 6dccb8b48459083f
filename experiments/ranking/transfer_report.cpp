#include <fmt/format.h>

#include <algorithm>

#include "reports.h"

namespace fuselage::experiments {
namespace {

using learn::RankMetric;

const std::vector<std::string> shown = {"action bag", "token bag", "paper recipe", "window 4", "recurrent"};

}  // namespace

Report transfer_report(const Contest& contest, std::size_t first, const std::vector<OnMachine>& machines) {
  Report report = {.rows = Table({"machine", "bytes a cycle", "room, tensors", "launch", "depth", "ranker",
                                  "graphs", "pairwise", "tau", "top-1", "regret %"}),
                   .summary = {}};
  std::vector<std::string> rankers;
  for (const std::string& name : shown)
    if (std::find(contest.names.begin(), contest.names.end(), name) != contest.names.end())
      rankers.push_back(name);
  std::vector<std::string> columns = {"machine", "bytes a cycle", "room, tensors", "launch", "depth"};
  for (const std::string& name : rankers) columns.push_back(name);
  columns.push_back("recurrent tau");
  columns.push_back("recurrent top-1");
  Table table(columns);
  std::map<std::string, std::vector<learn::GroupFigures>> all;
  for (std::size_t m = 0; m < machines.size(); ++m) {
    const MachineSpec& spec = machines[m].machine;
    const std::vector<std::string> words = {std::to_string(m + 1), fixed(spec.bandwidth, 1),
                                            fixed(spec.tensors, 1), fixed(spec.launch, 0),
                                            std::to_string(spec.depth)};
    std::vector<std::string> line = words;
    Judged recurrent;
    for (const std::string& name : rankers) {
      const Judged judged = judge(machines[m].set.schedules, contest.scores[first + m].at(name), Filter::all);
      std::vector<std::string> row = words;
      row.insert(row.end(),
                 {name, std::to_string(judged.groups.size()), fixed(judged.value(RankMetric::pairwise), 4),
                  fixed(judged.value(RankMetric::tau), 4), fixed(judged.value(RankMetric::top_1), 4),
                  percent(judged.value(RankMetric::regret), 2)});
      report.rows.add(std::move(row));
      line.push_back(fixed(judged.value(RankMetric::pairwise), 4));
      all[name].insert(all[name].end(), judged.groups.begin(), judged.groups.end());
      if (name == "recurrent") recurrent = judged;
    }
    line.push_back(fixed(recurrent.value(RankMetric::tau), 4));
    line.push_back(fixed(recurrent.value(RankMetric::top_1), 4));
    table.add(std::move(line));
  }
  Table means({"ranker", "pairwise", "tau", "top-1", "regret %"});
  for (const std::string& name : rankers) {
    if (all[name].empty()) continue;
    const auto figures = learn::rank_figures(all[name]);
    const auto at = [&](RankMetric metric) { return figures[static_cast<std::size_t>(metric)]; };
    means.add({name, fixed(at(RankMetric::pairwise), 4), fixed(at(RankMetric::tau), 4),
               fixed(at(RankMetric::top_1), 4), percent(at(RankMetric::regret), 2)});
  }
  report.summary = {
      {"All machines together", std::move(means)},
      {"Pairwise accuracy by machine, and tau and top-1 of the recurrent ranker", std::move(table)}};
  return report;
}

}  // namespace fuselage::experiments
