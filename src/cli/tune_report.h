// What a tuner answers, as a table for people and as one JSON document for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/oracle/tune.h"

namespace fuselage::cli {

// One target. Latencies are in cycles, or in whatever the evaluator measures.
struct TuneAnswer {
  std::string name;
  int ops = 0;
  std::optional<oracle::Tuned> tuned = {};  // none: refused, see `error`
  std::int64_t recalled = 0;                // trials taken from the log
  std::int64_t strays = 0;                  // lines of the evaluator that answered nothing
  double seconds = 0;
  std::string plan_path = {};  // of the file written; empty: none
  std::string error = {};
  int overflows = 0;  // kernels of the best plan that need more than fast memory
  // Of the roofline only: what greedy gets, the best plan in the store before, and what is proven.
  std::optional<double> greedy = {};
  std::optional<double> known = {};
  std::optional<double> lower_bound = {};
  bool is_proven = false;  // is the bound the optimum?

  bool found() const { return tuned && tuned->best; }
  double latency() const { return tuned->trials[*tuned->best].latency(); }  // of the best plan
};

struct TuneHeading {
  bool external = false;
  nlohmann::ordered_json settings = {};
};

std::string tune_table(const std::vector<TuneAnswer>& answers, const TuneHeading& heading);
nlohmann::ordered_json tune_json(const std::vector<TuneAnswer>& answers, const TuneHeading& heading);

}  // namespace fuselage::cli
