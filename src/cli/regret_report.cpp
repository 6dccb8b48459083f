#include "regret_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "regret_summary.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using oracle::Cause;
using oracle::EpisodeRegret;
using oracle::StepRegret;

std::string share(double part, double whole) {
  return whole > 0 ? percent(part / whole) : "-";
}

std::string words_of(const walk::Action& action) {
  return fmt::format("{}, tile {}, retain [{}]", action.fuse_with_prev ? "fuse" : "new kernel", action.tile,
                     fmt::join(action.retain, ","));
}

std::string tensors(const std::vector<oracle::RetainFault>& faults) {
  std::vector<std::string> words;
  for (const oracle::RetainFault& fault : faults)
    words.push_back(faults.size() == 1
                        ? std::to_string(fault.tensor)
                        : fmt::format("{} ({} by itself)", fault.tensor, cycles(fault.cycles)));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string words_of(Cause cause, const StepRegret& step) {
  switch (cause) {
    case Cause::fusion_broken:
      return "fusing is better";
    case Cause::fusion_refused:
      return "fusing is better, but was asked for with a tile and retain list that don't fit";
    case Cause::fused_wrongly:
      return "a new kernel is better";
    case Cause::tile_wrong:
      return fmt::format("tile {} is right here", step.right_tile);
    case Cause::retain_missed:
      return step.missed.empty() ? "retaining otherwise is better" : "not retained: " + tensors(step.missed);
    case Cause::retain_needless:
      break;
  }
  return "retained needlessly" + (step.needless.empty() ? "" : ": " + tensors(step.needless));
}

std::string causes_of(const StepRegret& step) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < oracle::cause_names.size(); ++i) {
    const auto cause = static_cast<Cause>(i);
    if (step.regret[cause] <= 0) continue;
    words.push_back(fmt::format("{} {}", cycles(step.regret[cause]), words_of(cause, step)));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string means_table(const std::string& what, const std::vector<RegretMeans>& rows) {
  std::vector<Column> columns = {{what, Align::left}, {"episodes"}, {"unfinished"}, {"unread"}, {"regret %"}};
  for (std::string_view cause : oracle::cause_names) columns.push_back({fmt::format("{} %", cause)});
  columns.push_back({"score"});
  columns.push_back({"return"});
  Table table(columns);
  for (const RegretMeans& row : rows) {
    std::vector<std::string> cells = {row.name, grouped(static_cast<std::uint64_t>(row.episodes)),
                                      grouped(static_cast<std::uint64_t>(row.unfinished)),
                                      grouped(static_cast<std::uint64_t>(row.unread)),
                                      row.regret ? percent(*row.regret) : "-"};
    for (double cause : row.by_cause) cells.push_back(row.regret ? percent(cause) : "-");
    cells.push_back(decimal(row.score));
    cells.push_back(decimal(row.episode_return));
    table.add(std::move(cells));
  }
  return table.text();
}

}  // namespace

std::string episodes_table(const std::vector<JudgedEpisode>& all, std::size_t most) {
  Table table({{"task", Align::left},
               {"policy", Align::left},
               {"rules", Align::left},
               {"ops"},
               {"played"},
               {"unread"},
               {"unused"},
               {"latency"},
               {"optimum"},
               {"regret %"},
               {"fuse %"},
               {"tile %"},
               {"retain %"},
               {"return"},
               {"score"}});
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
    const JudgedEpisode& one = all[i];
    const EpisodeRegret& regret = one.regret;
    table.add({one.name, one.policy, std::string(walk::name(one.rules)), grouped(std::int64_t{one.ops}),
               grouped(static_cast<std::uint64_t>(regret.played)), std::to_string(regret.unread),
               std::to_string(regret.unused), cycles(regret.latency),
               cycles(regret.optimum) + (regret.proven ? "" : "*"),
               share(regret.regret.total(), regret.optimum), share(regret.regret.fuse(), regret.optimum),
               share(regret.regret.tile(), regret.optimum), share(regret.regret.retain(), regret.optimum),
               decimal(regret.episode_return), regret.complete ? decimal(regret.score) : "unfinished"});
  }
  std::string text = table.text();
  if (all.size() > most)
    text += fmt::format("... and {} episodes more; --json lists all\n",
                        grouped(std::uint64_t{all.size() - most}));
  text +=
      "\nregret: (latency - optimum) / optimum, and the decisions it is owed to. return: sum of the "
      "rewards.\n";
  if (std::any_of(all.begin(), all.end(), [](const JudgedEpisode& one) { return !one.regret.proven; }))
    text += "*: a value that this rests on isn't proven within --steps, and regrets may not add up.\n";
  return text;
}

std::string steps_table(const JudgedEpisode& one) {
  if (one.regret.regret.total() <= 0) return {};
  Table table({{"step"},
               {"node"},
               {"regret"},
               {"gap %"},
               {"did", Align::left},
               {"better", Align::left},
               {"why", Align::left}});
  for (std::size_t i = 0; i < one.regret.steps.size(); ++i) {
    const StepRegret& step = one.regret.steps[i];
    if (step.regret.total() <= 0) continue;
    table.add({std::to_string(i), std::to_string(step.node), cycles(step.regret.total()), percent(step.gap),
               words_of(step.taken), words_of(step.best), causes_of(step)});
  }
  return fmt::format("\n{}, policy {}, rules {}:\n{}", one.name, one.policy, walk::name(one.rules),
                     table.text());
}

std::string summary_tables(const std::vector<JudgedEpisode>& all) {
  std::string text;
  for (const RegretSummary& summary : summaries(all)) {
    if (summary.episodes < 2) continue;
    text += fmt::format("\nUnder the rules {}, means over {} episodes; regrets in % of the optimum:\n\n",
                        walk::name(summary.rules), grouped(static_cast<std::uint64_t>(summary.episodes)));
    text += means_table("task", summary.by_task) + '\n' + means_table("policy", summary.by_policy);
  }
  return text;
}

}  // namespace fuselage::cli
