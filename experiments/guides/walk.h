// The walk family's guide: what does pruning in the tree save in pricings, and what does it lose?
#pragma once

#include "fuselage/oracle/walk_guide.h"
#include "report.h"

namespace fuselage::experiments {

struct WalkSetting {
  oracle::WalkModels models;
  int graphs = 60;  // of each set
};

struct WalkReport {
  Report report;
  // Of each set, gap against steps: file name and content are the caller's.
  struct Curve {
    std::string set;
    std::string name;
    std::vector<double> steps;
    std::vector<double> gap;  // percent
  };
  std::vector<Curve> curves;
};
WalkReport walk(const WalkSetting& setting);

}  // namespace fuselage::experiments
