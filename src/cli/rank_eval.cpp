#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/learn/ranking_metrics.h"
#include "options.h"
#include "rank_csv.h"
#include "report_cells.h"
#include "table.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using learn::Estimate;
using learn::GroupFigures;
using learn::PerRankMetric;
using nlohmann::ordered_json;

constexpr const char* footer =
    R"(CSV has a line of names, then a line a row: group (what is ranked at once, say a workload), cost (the
true one, > 0) and a column of scores for each ranker, by any name; higher is better. An optional column
weight, the same in all rows of a group, counts groups in top-1 and top-5. Groups with a single cost have
nothing to rank and are left out.

  pairwise  of the pairs with different costs, the share in the right order; equal scores are half right
  tau       Kendall's tau-b
  top-1, 5  sum of weight x best / sum of weight x best of the 1 or 5 with the highest scores
  regret %  how much dearer than the best the one with the highest score is
  NDCG@5    of gains best / cost

Means over groups (top-1 and top-5: of sums) with 95 % bootstrap intervals over groups. Of equal scores the
dearer is picked first. With several rankers, the differences to the first one, of the same resamples.

Examples:
  fuselage rank-eval scores.csv
  fuselage rank-eval scores.csv --json --resamples 10000 --seed 7
  fuselage rank-eval predicted.csv --lower-is-better
  printf 'group,cost,mine,theirs\na,10,3,1\na,12,2,2\na,15,1,3\n' | fuselage rank-eval -)";

struct RankEvalCommand {
  std::string csv;
  bool lower_is_better = false;
  bool json = false;
  std::optional<std::int64_t> resamples = 2000;
  std::optional<std::int64_t> seed = 0;
};

struct RankerFigures {
  std::string name;
  PerRankMetric<Estimate> figures;
  std::optional<PerRankMetric<Estimate>> difference;  // to the first
};

struct RankReport {
  std::string source;
  std::size_t rows = 0;
  std::size_t groups = 0;  // that count
  std::size_t left_out = 0;
  std::vector<RankerFigures> rankers = {};
};

std::vector<GroupFigures> figures_of(const ScoreTable& table, std::size_t ranker) {
  std::vector<GroupFigures> figures;
  for (const ScoredGroup& group : table.groups)
    if (const auto one = learn::group_figures(
            {.costs = group.costs, .scores = group.scores[ranker], .weight = group.weight}))
      figures.push_back(*one);
  return figures;
}

RankReport evaluate(const RankEvalCommand& command) {
  RankReport report{.source = source_name(command.csv)};
  ScoreTable table = parse_scores(read_file(command.csv), report.source);
  if (command.lower_is_better)
    for (ScoredGroup& group : table.groups)
      for (std::vector<double>& scores : group.scores)
        for (double& score : scores) score = -score;
  const learn::Bootstrap options{.resamples = static_cast<int>(*command.resamples),
                                 .seed = static_cast<std::uint64_t>(*command.seed)};
  const std::vector<GroupFigures> first = figures_of(table, 0);
  if (first.empty()) fail("{}: no group has two different costs; expected something to rank", report.source);
  report.rows = table.rows;
  report.groups = first.size();
  report.left_out = table.groups.size() - first.size();
  for (std::size_t r = 0; r < table.rankers.size(); ++r) {
    const std::vector<GroupFigures> figures = figures_of(table, r);
    RankerFigures ranker{
        .name = table.rankers[r], .figures = learn::bootstrap(figures, options), .difference = {}};
    if (r > 0) ranker.difference = learn::bootstrap_difference(figures, first, options);
    report.rankers.push_back(std::move(ranker));
  }
  return report;
}

// Four decimals, of regret two in percent.
std::string cell(const Estimate& estimate, bool is_regret, const char* format) {
  const double scale = is_regret ? 100 : 1;
  return fmt::format(fmt::runtime(format), scale * estimate.value, scale * estimate.low,
                     scale * estimate.high, is_regret ? 2 : 4);
}

void add_row(Table& table, const std::string& name, const PerRankMetric<Estimate>& figures,
             const char* format) {
  std::vector<std::string> cells = {name};
  for (std::size_t m = 0; m < figures.size(); ++m)
    cells.push_back(cell(figures[m], m == static_cast<std::size_t>(learn::RankMetric::regret), format));
  table.add(std::move(cells));
}

std::string text_of(const RankReport& report, const RankEvalCommand& command) {
  const auto columns = [](const std::string& first) {
    return std::vector<Column>{{first, Align::left}, {"pairwise"}, {"tau"}, {"top-1"}, {"top-5"},
                               {"regret %"},         {"NDCG@5"}};
  };
  Table table(columns("ranker"));
  for (const RankerFigures& ranker : report.rankers)
    add_row(table, ranker.name, ranker.figures, "{0:.{3}f} [{1:.{3}f}, {2:.{3}f}]");
  std::string text = table.text();
  if (report.rankers.size() > 1) {
    Table differences(columns("minus " + report.rankers.front().name));
    for (const RankerFigures& ranker : report.rankers)
      if (ranker.difference)
        add_row(differences, ranker.name, *ranker.difference, "{0:+.{3}f} [{1:+.{3}f}, {2:+.{3}f}]");
    text += '\n' + differences.text();
  }
  text += fmt::format("\n{} groups, {} rows", grouped(std::uint64_t{report.groups}),
                      grouped(std::uint64_t{report.rows}));
  if (report.left_out > 0) text += fmt::format(", {} groups with nothing to rank left out", report.left_out);
  return text + fmt::format("; 95 % intervals of {} resamples, seed {}\n", grouped(*command.resamples),
                            *command.seed);
}

ordered_json estimates_json(const PerRankMetric<Estimate>& figures) {
  ordered_json json;
  for (std::size_t m = 0; m < figures.size(); ++m)
    json[learn::rank_metric_names[m]] = {
        {"value", figures[m].value}, {"low", figures[m].low}, {"high", figures[m].high}};
  return json;
}

std::string json_of(const RankReport& report, const RankEvalCommand& command) {
  ordered_json json = {{"source", report.source},
                       {"rows", report.rows},
                       {"groups", report.groups},
                       {"groups_left_out", report.left_out},
                       {"resamples", *command.resamples},
                       {"seed", *command.seed},
                       {"confidence", 0.95},
                       {"rankers", ordered_json::array()}};
  for (const RankerFigures& ranker : report.rankers) {
    ordered_json entry = {{"ranker", ranker.name}, {"figures", estimates_json(ranker.figures)}};
    entry["difference_to_first"] =
        ranker.difference ? estimates_json(*ranker.difference) : ordered_json(nullptr);
    json["rankers"].push_back(std::move(entry));
  }
  return dump(json);
}

}  // namespace

void add_rank_eval(CLI::App& app, int& exit_code) {
  CLI::App& command =
      *app.add_subcommand("rank-eval", "Judge rankers by a CSV of true costs and their scores");
  command.footer(footer);
  auto options = std::make_shared<RankEvalCommand>();
  add_argument(command, "CSV", "a file with the columns group, cost and scores; '-' for stdin", options->csv)
      ->required();
  command.add_flag("--lower-is-better", options->lower_is_better, "scores are predicted costs");
  add_integer(command, {"--resamples", "N", "bootstrap resamples (2000)"}, {1, 1'000'000},
              options->resamples);
  add_integer(command, {"--seed", "N", "of the resamples (0)"}, {}, options->seed);
  command.add_flag("--json", options->json, "one JSON document instead of the table");
  command.callback([options, &exit_code] {
    const RankReport report = evaluate(*options);
    write_stdout(options->json ? json_of(report, *options) : text_of(report, *options));
    exit_code = exit_ok;
  });
}

}  // namespace fuselage::cli
