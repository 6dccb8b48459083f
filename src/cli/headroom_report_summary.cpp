#include <fmt/format.h>

#include <algorithm>

#include "headroom_report.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using oracle::Decision;
using oracle::Headroom;
using oracle::Solution;

using Figures = std::vector<std::optional<double>>;

// Column by column; none where one of the rows has none.
Figures means(const std::vector<Figures>& rows) {
  Figures sums(rows.front().size(), 0.0);
  for (const Figures& row : rows)
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] = sums[i] && row[i] ? std::optional(*sums[i] + *row[i]) : std::nullopt;
  for (auto& sum : sums)
    if (sum) *sum /= static_cast<double>(rows.size());
  return sums;
}

struct Entry {
  std::string name;
  const HeadroomAnswer* answer = nullptr;  // none: a mean
  const Headroom* headroom = nullptr;
  std::string rules;
  Figures figures;
};

// A row for each target and rule set, then the means, rule set by rule set.
std::vector<Entry> entries(const std::vector<HeadroomAnswer>& answers,
                           Figures (*figures)(const HeadroomAnswer&, const Headroom&)) {
  std::vector<Entry> result;
  for (const HeadroomAnswer& answer : answers)
    for (const Headroom& headroom : answer.headrooms)
      result.push_back({.name = answer.name,
                        .answer = &answer,
                        .headroom = &headroom,
                        .rules = std::string(name(headroom.rules)),
                        .figures = figures(answer, headroom)});
  if (answers.size() < 2) return result;
  for (std::size_t i = 0; i < answers.front().headrooms.size(); ++i) {
    std::vector<Figures> rows;
    for (const HeadroomAnswer& answer : answers) rows.push_back(figures(answer, answer.headrooms[i]));
    result.push_back({.name = fmt::format("mean of {}", answers.size()),
                      .answer = nullptr,
                      .headroom = nullptr,
                      .rules = std::string(name(answers.front().headrooms[i].rules)),
                      .figures = means(rows)});
  }
  return result;
}

std::string score_text(const std::optional<double>& score) {
  return score ? fmt::format("{:.3f}", *score) : "-";
}

// Of 3B, 8B, two constants, the best constant, the heuristic and the optimum.
Figures scores(const HeadroomAnswer& answer, const Headroom& headroom) {
  // Models were scored under seed; another rule set may score the same answers otherwise.
  const bool published = answer.published && headroom.rules == walk::Rules::seed;
  Figures figures = {published ? std::optional(answer.published->score_3b) : std::nullopt,
                     published ? std::optional(answer.published->score_8b) : std::nullopt};
  for (const oracle::Played* played :
       {&headroom.played("constant 128, fusing"), &headroom.played("constant 256, fusing"),
        &headroom.best_constant(), &headroom.played("heuristic")})
    figures.push_back(played->latency ? headroom.score(*played->latency) : std::nullopt);
  figures.push_back(headroom.optimum.score());
  return figures;
}

std::string scores_table(const std::vector<HeadroomAnswer>& answers) {
  constexpr std::size_t heuristic = 5;
  Table table({{"score of", Align::left},
               {"rules", Align::left},
               {"3B"},
               {"8B"},
               {"128, fusing"},
               {"256, fusing"},
               {"best constant"},
               {"which", Align::left},
               {"heuristic"},
               {"optimum"}});
  const auto add = [&](const Entry& entry, const std::string& which) {
    std::vector<std::string> cells = {entry.name, entry.rules};
    for (const auto& figure : entry.figures) cells.push_back(score_text(figure));
    cells.insert(cells.begin() + 2 + heuristic, which);
    table.add(std::move(cells));
  };
  for (const Entry& entry : entries(answers, scores)) {
    const oracle::Played* best = entry.headroom ? &entry.headroom->best_constant() : nullptr;
    add(entry, best && best->latency ? std::string(best->policy.name) : "-");
  }
  const bool any_task = std::any_of(answers.begin(), answers.end(), [](const HeadroomAnswer& answer) {
    return answer.published && answer.headrooms.front().rules == walk::Rules::seed;
  });
  const oracle::PublishedUnseen unseen = oracle::published_unseen();
  if (any_task)
    add({.name = "unseen graphs",
         .rules = "seed",
         .figures = {unseen.score_3b, unseen.score_8b, unseen.fusing_128, unseen.fusing_256, std::nullopt,
                     std::nullopt, std::nullopt}},
        "-");
  return table.text();
}

// Fractions: gain of the optimum, bound before search, and what each decision is worth.
Figures worth(const HeadroomAnswer& /*answer*/, const Headroom& headroom) {
  const Solution& optimum = headroom.optimum;
  Figures figures = {optimum.improvement(), optimum.found && optimum.latency > 0
                                                ? std::optional(headroom.root_bound / optimum.latency)
                                                : std::nullopt};
  for (std::string_view name : oracle::decision_names) {
    const Decision* decision = headroom.decision(name);
    figures.push_back(decision ? headroom.loss(*decision) : std::nullopt);
  }
  return figures;
}

std::string worth_table(const std::vector<HeadroomAnswer>& answers) {
  Table table({{"headroom of", Align::left},
               {"rules", Align::left},
               {"greedy"},
               {"optimum"},
               {"gain %"},
               {"root bound %"},
               {"retention %"},
               {"fusion %"},
               {"tile %"},
               {"order %"}});
  for (const Entry& entry : entries(answers, worth)) {
    std::vector<std::string> cells = {entry.name, entry.rules};
    cells.push_back(entry.headroom ? cycles(entry.headroom->optimum.greedy_latency) : "-");
    cells.push_back(entry.headroom ? optimum_cell(entry.headroom->optimum) : "-");
    for (const auto& figure : entry.figures) cells.push_back(figure ? percent(*figure) : "-");
    table.add(std::move(cells));
  }
  return table.text();
}

constexpr const char* legend =
    "gain: (greedy - x) / greedy; score: gain / 20%, within -1 and 1. Latencies in cycles.\n"
    "retention, fusion, tile, order: how much longer the optimum takes without retention, without fusion,\n"
    "with tile 128 only, and in any order; of the optimum. root bound: of the optimum, before any search.\n"
    "A mean with a dash has no figure for one of its rows.\n";

constexpr const char* published_legend =
    "3B, 8B: published by the environment's authors, on unseen graphs too; scored under seed. The constants\n"
    "on 200 unseen graphs (level 0.6) were measured on the environment, not here.\n";

}  // namespace

std::string optimum_cell(const Solution& solution) {
  if (!solution.found) return "-";
  return cycles(solution.latency) + (solution.proof == search::Proof::optimal ? "" : "*");
}

std::string headroom_summary(const std::vector<HeadroomAnswer>& answers) {
  const bool published = std::any_of(answers.begin(), answers.end(),
                                     [](const HeadroomAnswer& a) { return a.published.has_value(); });
  return scores_table(answers) + '\n' + worth_table(answers) + '\n' + legend +
         (published ? published_legend : "");
}

}  // namespace fuselage::cli
