// What a search has to do with the best-known store: how good the best plan known before is, and that the new
// one joins it. A store that can't be used costs a note, not the search.
#pragma once

#include <optional>
#include <string>

#include "fuselage/oracle/solve.h"
#include "fuselage/oracle/store.h"
#include "fuselage/walk/plan_json.h"

namespace fuselage::cli {

class SearchStore {
 public:
  // `file`: as --store says; empty: the user's. Error if a store that was named can't be opened.
  SearchStore(const std::string& file, bool used);

  bool used() const { return store_.has_value(); }
  // Cost of the best plan known for this problem so far, in cycles of the objective.
  std::optional<double> known(const Workload& workload, const oracle::SolveOptions& options);
  void offer(const walk::PlanFile& plan, const oracle::Solution& solution,
             const oracle::SolveOptions& options);

 private:
  std::optional<oracle::Store> store_;
};

}  // namespace fuselage::cli
