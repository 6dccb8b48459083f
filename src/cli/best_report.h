// Records of the best-known store as people read them: a table of all, one with its plan.
#pragma once

#include <string>
#include <vector>

#include "fuselage/oracle/store.h"

namespace fuselage::cli {

// A record, and how many kernels of its plan overflow fast memory; 0 where that isn't known.
struct BestRow {
  oracle::Record record;
  int overflows = 0;
};

// A row a record, of any family.
std::string best_table(const std::vector<BestRow>& rows);

// What tells a record from others of its name: "3fa2c81b90d4  task1_chain, rules seed, order fixed".
std::string best_line(const oracle::Record& record);

// The record's figures, where its plan comes from, and the plan kernel by kernel. Error for a plan that
// doesn't hold, beginning with `where`.
std::string best_details(const oracle::Record& record, const std::string& where);

}  // namespace fuselage::cli
