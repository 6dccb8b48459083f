// Scores against costs, over several trainings: figures of each, the mean, its interval over graphs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "drawn.h"
#include "fuselage/learn/ranking_metrics.h"
#include "report.h"

namespace fuselage::experiments {

// All schedules of a graph, or those within 10 % of the best of them.
enum class Filter { all, near_best };
std::string name(Filter filter);

struct Judged {
  std::vector<learn::PerRankMetric<double>> of_seeds = {};
  // Of every graph with something to rank, the mean over the seeds; graphs in the same order for every
  // ranker.
  std::vector<learn::GroupFigures> groups = {};
  learn::PerRankMetric<learn::Estimate> mean = {};  // 95 % over graphs

  double value(learn::RankMetric metric) const { return mean[static_cast<std::size_t>(metric)].value; }
  // Largest minus smallest of the seeds'.
  double spread(learn::RankMetric metric) const;
};

// `scores`: by seed, of every schedule of the set. Workloads weigh 1 / best, so that all count alike.
Judged judge(const learn::Schedules& set, const std::vector<std::vector<float>>& scores, Filter filter);

// "0.9871 [0.9840, 0.9899]"
std::string cell(const learn::Estimate& estimate, int decimals = 4);

}  // namespace fuselage::experiments
