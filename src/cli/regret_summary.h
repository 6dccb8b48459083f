// Means over episodes that have something in common, for the tables and the JSON of `fuselage regret`.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "regret_report.h"

namespace fuselage::cli {

struct RegretMeans {
  std::string name;  // of the task or policy
  std::size_t episodes = 0;
  std::size_t unfinished = 0;
  std::size_t unread = 0;    // answers
  std::size_t unproven = 0;  // episodes
  // Means over episodes; of the optimum, so that small tasks count as much as large ones (episodes whose
  // optimum is free are left out of these).
  std::array<double, oracle::cause_names.size()> by_cause = {};
  std::optional<double> regret = {};
  std::optional<double> score = {};           // over those that are finished
  std::optional<double> episode_return = {};  // the same
};

struct RegretSummary {
  walk::Rules rules = walk::Rules::seed_honest;
  std::size_t episodes = 0;
  std::vector<RegretMeans> by_task;    // in the order of the fixed tasks, then all other graphs in one
  std::vector<RegretMeans> by_policy;  // by mean regret, least first
};

// One for each rule set that has episodes, in the order of walk::rules_names.
std::vector<RegretSummary> summaries(const std::vector<JudgedEpisode>& all);

}  // namespace fuselage::cli
