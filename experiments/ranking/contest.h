// Every ranker trained with every seed on one set, and its scores of all the sets that it is judged on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "judge.h"
#include "rankers.h"

namespace fuselage::experiments {

struct Contest {
  std::vector<std::string> names;  // of rankers
  // By set, by ranker, by seed: the score of every schedule.
  std::vector<std::map<std::string, std::vector<std::vector<float>>>> scores;
};

struct ContestOptions {
  Recipe recipe = {};  // seeds are 0, 1, …
  int seeds = 3;
  int threads = 1;
  std::vector<std::string> only = {};  // names of rankers; all if empty
};

Contest contest(const Set& train, const std::vector<const Set*>& sets, const ContestOptions& options);

// One table of a set: a ranker a row, best last by what it is told; figures with intervals over graphs, and
// how far the seeds' pairwise figures are apart.
struct Standing {
  std::string set;
  Filter filter = Filter::all;
  std::size_t graphs = 0;
  std::vector<std::string> names = {};
  std::map<std::string, Judged> judged = {};

  const Judged& of(const std::string& name) const { return judged.at(name); }
};
Standing standing(const Contest& contest, std::size_t set_number, const Set& set, Filter filter);
Titled table_of(const Standing& standing);

}  // namespace fuselage::experiments
