// What was measured: for every graph, filter and seed how far the best plan of the first n trials is from the
// proven optimum, for every n; and what follows from it, with intervals over graphs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "filters.h"
#include "report.h"

namespace fuselage::experiments {

struct Job {
  std::string kind;  // of graphs
  int graphs = 60;
  int seeds = 3;
  int trials = 256;        // with a filter
  int reference = 10'000;  // without one
  int proposals = 64;      // for each trial with a filter
  std::uint64_t draw = 0;  // seed of the graphs
  int threads = 1;
};

struct Curves {
  std::string kind;
  std::vector<std::string> graphs = {};  // names
  std::vector<double> optima = {};       // cycles
  // By filter, seed and graph: gaps after 1, 2, … trials. One that ended early stays at its last.
  std::array<std::vector<std::vector<std::vector<float>>>, filter_names.size()> gaps = {};
  double seconds = 0;

  // Of a filter after n trials, by graph: the mean over seeds.
  std::vector<double> gaps_at(FilterKind filter, std::size_t n) const;
  std::size_t trials(FilterKind filter) const;
};

Curves measure(const Job& job, const Learned& learned);

// Mean with its 95 % interval over graphs drawn with replacement.
struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;

  std::string percent() const;  // "0.41 [0.30, 0.55]"
};
Interval interval_of(const std::vector<double>& values);
// Of a minus b, graph by graph.
Interval difference_of(const std::vector<double>& a, const std::vector<double>& b);

Report report_of(const std::vector<Curves>& all);

}  // namespace fuselage::experiments
