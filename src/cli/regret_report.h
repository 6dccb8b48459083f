// What `fuselage regret` says of episodes, as tables for people and as JSON. Figures of different rule sets
// are never added up: the same answers cost otherwise under another, so every summary is of one rule set.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuselage/oracle/regret.h"
#include "fuselage/walk/rules.h"

namespace fuselage::cli {

struct JudgedEpisode {
  std::string file;
  std::size_t line = 0;
  std::string policy;
  std::string name;  // of the workload
  std::string task;  // the fixed task that it is; empty: none
  int ops = 0;
  walk::Rules rules = walk::Rules::seed_honest;
  oracle::EpisodeRegret regret;
};

// A row an episode; so many at most, and a word about the others.
std::string episodes_table(const std::vector<JudgedEpisode>& all, std::size_t most);
// The steps of an episode that lost something, and why; empty if none did.
std::string steps_table(const JudgedEpisode& one);
// For each rule set with more than one episode a table by task and one by policy.
std::string summary_tables(const std::vector<JudgedEpisode>& all);

nlohmann::ordered_json episode_json(const JudgedEpisode& one);
nlohmann::ordered_json summaries_json(const std::vector<JudgedEpisode>& all);

}  // namespace fuselage::cli
