// What `fuselage counterfactuals` says it has written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuselage/oracle/counterfactuals_mix.h"

namespace fuselage::cli {

struct CounterfactualsReport {
  std::string file;
  walk::Rules rules = walk::Rules::seed_honest;
  std::int64_t graphs = 0;
  std::vector<oracle::FactKind> facts;
  const oracle::CounterfactualMix& mix;
};

std::string text_of(const CounterfactualsReport& report);
std::string json_of(const CounterfactualsReport& report);

}  // namespace fuselage::cli
