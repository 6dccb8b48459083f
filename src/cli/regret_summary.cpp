#include "regret_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "fuselage/walk/tasks.h"

namespace fuselage::cli {
namespace {

using Episodes = std::vector<const JudgedEpisode*>;

RegretMeans means(std::string name, const Episodes& episodes) {
  RegretMeans result{.name = std::move(name), .episodes = episodes.size()};
  std::size_t priced = 0;
  double score = 0, episode_return = 0;
  for (const JudgedEpisode* one : episodes) {
    const oracle::EpisodeRegret& regret = one->regret;
    result.unread += static_cast<std::size_t>(regret.unread);
    result.unproven += !regret.proven;
    result.unfinished += !regret.complete;
    if (regret.complete) score += regret.score;
    if (regret.complete) episode_return += regret.episode_return;
    if (regret.optimum <= 0) continue;
    ++priced;
    for (std::size_t i = 0; i < result.by_cause.size(); ++i)
      result.by_cause[i] += regret.regret.by_cause[i] / regret.optimum;
  }
  if (priced > 0) result.regret = 0;
  for (double& cause : result.by_cause) {
    if (priced == 0) break;
    cause /= static_cast<double>(priced);
    *result.regret += cause;
  }
  const auto finished = static_cast<double>(result.episodes - result.unfinished);
  if (finished > 0) result.score = score / finished;
  if (finished > 0) result.episode_return = episode_return / finished;
  return result;
}

std::vector<RegretMeans> by_task(const Episodes& episodes) {
  std::map<std::string, Episodes> groups;
  std::set<std::string> graphs;
  for (const JudgedEpisode* one : episodes) {
    groups[one->task].push_back(one);
    if (one->task.empty()) graphs.insert(one->name);
  }
  std::vector<RegretMeans> result;
  for (const walk::TaskSpec& task : walk::tasks()) {
    const auto group = groups.find(std::string(task.name));
    if (group != groups.end()) result.push_back(means(group->first, group->second));
  }
  const auto others = groups.find("");
  if (others == groups.end()) return result;
  const bool alone = graphs.size() == 1;
  result.push_back(
      means(alone ? *graphs.begin() : fmt::format("{} other graphs", graphs.size()), others->second));
  return result;
}

std::vector<RegretMeans> by_policy(const Episodes& episodes) {
  std::map<std::string, Episodes> groups;
  for (const JudgedEpisode* one : episodes) groups[one->policy].push_back(one);
  std::vector<RegretMeans> result;
  for (const auto& [policy, group] : groups) result.push_back(means(policy, group));
  const auto cost = [](const RegretMeans& m) {
    return m.regret.value_or(std::numeric_limits<double>::infinity());
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const RegretMeans& a, const RegretMeans& b) { return cost(a) < cost(b); });
  return result;
}

}  // namespace

std::vector<RegretSummary> summaries(const std::vector<JudgedEpisode>& all) {
  std::vector<RegretSummary> result;
  for (std::size_t rules = 0; rules < walk::rules_names.size(); ++rules) {
    Episodes episodes;
    for (const JudgedEpisode& one : all)
      if (static_cast<std::size_t>(one.rules) == rules) episodes.push_back(&one);
    if (episodes.empty()) continue;
    result.push_back({.rules = static_cast<walk::Rules>(rules),
                      .episodes = episodes.size(),
                      .by_task = by_task(episodes),
                      .by_policy = by_policy(episodes)});
  }
  return result;
}

}  // namespace fuselage::cli
