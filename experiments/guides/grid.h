// The grid family's guide: what does a ranker of decisions save in pricings?
#pragma once

#include <cstdint>
#include <memory>

#include "fuselage/learn/flat_trees.h"
#include "report.h"

namespace fuselage::experiments {

struct GridSetting {
  std::shared_ptr<const learn::FlatTrees> ranker;
  int problems = 30;  // for each rule set, held out
  int max_ops = 60;
  // Where the seeds begin, and of which split the problems are.
  std::uint64_t first_seed = 0;  // 0: oracle::first_held_out_seed
  bool validation = false;       // for choosing options; else the test split
};

Report grid(const GridSetting& setting);

}  // namespace fuselage::experiments
