// The walk family's guide: what does pruning in the tree save in pricings, and what does it lose?
#pragma once

#include "fuselage/oracle/walk_guide.h"
#include "report.h"

namespace fuselage::experiments {

struct WalkSetting {
  oracle::WalkModels models;
  int graphs = 60;  // of each set
};

Report walk(const WalkSetting& setting);

}  // namespace fuselage::experiments
